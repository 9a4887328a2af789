import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp, request as httpRequest } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fakeHttp, open, openBare } from "./http-fixture.ts";
import { lacks } from "../machine.ts";
import { failure, modernMeta, type Opened } from "./rpc-fixture.ts";

/** A call without a handshake before it. */
const ask = ({ request }: Opened) => request("tools/call", { name: "echo", _meta: modernMeta });

let folder: string;
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });

/** A certificate from our own authority, or a self-signed one. */
function issue(name: string, subject: { san?: string; selfSigned?: boolean; days?: [string, string] }): void {
  const key = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    `${name}.key`,
  ];
  if (subject.selfSigned) {
    openssl(
      "req",
      "-x509",
      ...key,
      "-out",
      `${name}.pem`,
      "-subj",
      `/CN=${name}`,
      "-addext",
      "subjectAltName=IP:127.0.0.1",
    );
    return;
  }
  openssl("req", ...key, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
  writeFileSync(
    join(folder, `${name}.ext`),
    `subjectAltName=${subject.san ?? "IP:127.0.0.1,DNS:localhost"}\n`,
  );
  const [from, to] = subject.days ?? ["20200101000000Z", "20990101000000Z"];
  const validity = ["-startdate", from, "-enddate", to];
  const files = ["-in", `${name}.csr`, "-extfile", `${name}.ext`, "-out", `${name}.pem`];
  openssl("ca", "-batch", "-notext", "-config", "ca.cnf", ...validity, ...files);
}

const authority = `
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
serial = serial
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = names
unique_subject = no
[names]
commonName = supplied
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "plugboard-tls-"));
  if (lacks("openssl")) return;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key"];
  openssl("req", "-x509", ...key, "-out", "ca.pem", "-subj", "/CN=Test CA", "-days", "3650");
  writeFileSync(join(folder, "ca.cnf"), authority);
  writeFileSync(join(folder, "index.txt"), "");
  writeFileSync(join(folder, "serial"), "01\n");
  issue("good", {});
  issue("elsewhere", { san: "DNS:elsewhere.example" });
  issue("expired", { days: ["20200101000000Z", "20200102000000Z"] });
  issue("future", { days: ["20980101000000Z", "20990101000000Z"] });
  issue("alone", { selfSigned: true });
  issue("client", { san: "DNS:client" });
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

describe.skipIf(lacks("openssl"))("M20 TLS is always verified", () => {
  const serve = (name: string) =>
    fakeHttp({ versions: "modern" }, { tls: { key: read(`${name}.key`), cert: read(`${name}.pem`) } });

  test("a certificate from an authority given in `network.ca` is trusted", async () => {
    const fake = await serve("good");
    const { call } = await open(fake.url, "modern", { network: { ca: read("ca.pem") } });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
  });

  test.each([
    ["good", false, /unknown authority \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/, /network\.ca/],
    ["alone", true, /self-signed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/, /network\.ca/],
    ["elsewhere", true, /issued for another host name/, /name in the certificate/],
    ["expired", true, /has expired/, /renew/],
    ["future", true, /not valid yet/, /clock/],
  ])("%s: refused, with the reason (our authority given: %s)", async (name, withCa, reason, hint) => {
    const fake = await serve(name);
    const opened = await openBare(fake.url, withCa ? { network: { ca: read("ca.pem") } } : {});
    const error = await failure(ask(opened));
    expect(error).toMatchObject({ code: "unexpected-response", data: { sent: false } });
    expect(error.message).toMatch(reason);
    expect(error.hint).toMatch(hint);
    expect(fake.received).toEqual([]);
  });

  test("plain HTTP behind an https URL is reported as a TLS problem", async () => {
    const fake = await fakeHttp();
    const opened = await openBare(fake.url.replace("http:", "https:"));
    expect((await failure(ask(opened))).message).toMatch(/failed the TLS handshake/);
  });

  test("invalid certificate files are a configuration error", async () => {
    const opened = await openBare("https://127.0.0.1:1/mcp", {
      network: { cert: "nonsense", key: "nonsense" },
    });
    expect(await failure(ask(opened))).toMatchObject({ code: "config-invalid" });
  });

  test("a client certificate is sent to a server that requires one; without it the server refuses", async () => {
    const seen: unknown[] = [];
    const options = { key: read("good.key"), cert: read("good.pem"), ca: read("ca.pem"), requestCert: true };
    const server = createHttps({ ...options, rejectUnauthorized: true }, (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate().subject.CN);
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { id } = JSON.parse(body) as { id: string };
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const network = { ca: read("ca.pem"), cert: read("client.pem"), key: read("client.key") };
    const known = await openBare(url, { network });
    expect(await ask(known)).toEqual({ result: {} });
    expect(seen).toEqual(["client"]);
    const stranger = await openBare(url, { network: { ca: network.ca } });
    expect(["unexpected-response", "connection-lost"]).toContain((await failure(ask(stranger))).code);
    expect(seen).toHaveLength(1);
  });

  test("TLS through a proxy is end to end: the proxy sees only the host", async () => {
    const fake = await serve("good");
    const proxy = await startProxy(new URL(fake.url).port);
    const url = `https://localhost:${new URL(fake.url).port}/mcp`;
    const network = { proxy: `http://me:sesame@127.0.0.1:${proxy.port}`, ca: read("ca.pem") };
    const { call, transport } = await open(url, "modern", { network });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    expect(proxy.seen[0]).toBe(
      `CONNECT localhost:${new URL(fake.url).port} Basic ${Buffer.from("me:sesame").toString("base64")}`,
    );
    expect(new Set(proxy.seen).size).toBe(1);
    await transport.close();
  });
});

describe("M20 proxies from the environment", () => {
  test("a plain request goes through HTTP_PROXY; the proxy resolves the name", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const proxy = await startProxy(new URL(fake.url).port);
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { call } = await open("http://mcp.example/mcp", "modern", { env });
    expect(await call("echo", { a: 1 })).toMatchObject({ result: { structuredContent: { a: 1 } } });
    expect(proxy.seen.at(-1)).toBe("POST http://mcp.example/mcp");
  });

  test("`network.proxy: none` connects directly", async () => {
    const fake = await fakeHttp({ versions: "modern" });
    const { call } = await open(fake.url, "modern", {
      env: { ALL_PROXY: "http://127.0.0.1:1" },
      network: { proxy: "none" },
    });
    expect(await call("echo")).toMatchObject({ result: {} });
  });

  test.each([
    [
      "that refuses the way",
      "https://refused.example/mcp",
      /through the proxy .*refused to connect to refused\.example.*403/,
    ],
    [
      "that is not there",
      "https://a.example/mcp",
      /through the proxy http:\/\/127\.0\.0\.1:1: nothing accepts connections/,
    ],
  ])("a proxy %s is named in the error, without its password", async (name, url, says) => {
    const proxy = await startProxy("1");
    const port = name.includes("not there") ? 1 : proxy.port;
    const opened = await openBare(url, { network: { proxy: `http://me:sesame@127.0.0.1:${port}` } });
    const error = await failure(ask(opened));
    expect(error).toMatchObject({ code: "not-responding", data: { sent: false } });
    expect(error.message).toMatch(says);
    expect(JSON.stringify([error, error.message])).not.toContain("sesame");
  });

  test("a proxy of an unknown type is a configuration error", async () => {
    const opened = await openBare("https://a.example/mcp", { network: { proxy: "gopher://x" } });
    expect(await failure(ask(opened))).toMatchObject({ code: "config-invalid" });
  });
});

/** A forward proxy that sends everything to one local port, except hosts named "refused". */
async function startProxy(target: string): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createHttp((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const { pathname } = new URL(request.url ?? "");
    const { method, headers } = request;
    const onward = httpRequest(
      { host: "127.0.0.1", port: target, path: pathname, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(onward.on("error", () => response.destroy()));
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"]}`);
    if (request.url?.startsWith("refused")) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const onward = connect(Number(target), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [socket, onward])
      end.on("error", () => onward.destroy()).on("close", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}
