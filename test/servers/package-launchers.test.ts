import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHub, isPlugboardError } from "../../src/index.ts";
import type { ConfigLiteral } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

/** A launcher of that name that writes down its environment, prints a text to stderr and fails. */
function createLauncher(name: string, stderr = "") {
  const sandbox = createSandbox();
  const seen = sandbox.path("seen");
  const path = sandbox.write(
    `bin/${name}`,
    `#!/bin/sh\nenv > '${seen}'\ncat >&2 <<'END'\n${stderr}\nEND\nexit 1\n`,
  );
  chmodSync(path, 0o755);
  return { sandbox, seen };
}

interface Start {
  stderr?: string;
  env?: Record<string, string>;
  entry?: object;
  settings?: Partial<ConfigLiteral>;
  prepare?: (sandbox: Sandbox) => void;
}

/** Starts a server through a launcher; returns the environment that the launcher got, and the error. */
async function launch(line: string, { stderr, env = {}, entry, settings, prepare }: Start = {}) {
  const [command = "", ...args] = line.split(" ");
  const { sandbox, seen } = createLauncher(command, stderr);
  prepare?.(sandbox);
  const servers = { demo: { command, args, cwd: sandbox.project, ...entry } };
  const hub = await createHub(
    { servers, ...settings },
    { env: { ...sandbox.env, PATH: `${join(sandbox.root, "bin")}:/usr/bin:/bin`, ...env } },
  );
  onTestFinished(() => hub.close());
  const error = await hub.callTool("demo.echo").then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPlugboardError(error)) throw new Error("expected an error");
  const lines = existsSync(seen) ? readFileSync(seen, "utf8").split("\n") : [];
  const got = Object.fromEntries(lines.map((one) => one.split(/=(.*)/s).slice(0, 2) as [string, string]));
  return { got, error };
}

const network = {
  NODE_EXTRA_CA_CERTS: "/etc/company.pem",
  SSL_CERT_FILE: "/etc/all.pem",
  SSL_CERT_DIR: "/etc/certs",
  HTTP_PROXY: "http://proxy.example:3128",
  https_proxy: "http://proxy.example:3128",
  NO_PROXY: "localhost",
};
const npm = { npm_config_registry: "https://npm.example/", NPM_CONFIG_CAFILE: "/etc/company.pem" };
const python = {
  UV_DEFAULT_INDEX: "https://pypi.example/simple",
  PIP_CERT: "/etc/all.pem",
  REQUESTS_CA_BUNDLE: "/etc/all.pem",
};
const kept = {
  NPM_TOKEN: "npm-token-1",
  "npm_config_//npm.example/:_authToken": "npm-token-2",
  npm_config_local_prefix: "/home/me/other",
  npm_config_node_options: "--require /home/me/hook.js",
  UV_INDEX_COMPANY_PASSWORD: "uv-password-1",
  AWS_SECRET_ACCESS_KEY: "aws-secret-1",
};

describe("M20 a package launcher reaches its registry as in the user's shell", () => {
  const env = { ...network, ...npm, ...python, ...kept };

  it.each([
    ["npx -y some-server", { ...network, ...npm }, python],
    ["bunx some-server", { ...network, ...npm }, python],
    ["pnpm dlx some-server", { ...network, ...npm }, python],
    ["uvx some-server", { ...network, ...python }, npm],
    ["pipx run some-server", { ...network, ...python }, npm],
  ])("%s gets proxies, certificates and its own settings; no credentials", async (line, wanted, others) => {
    const { got } = await launch(line, { env });
    expect(got).toMatchObject(wanted);
    for (const name of Object.keys({ ...others, ...kept })) expect(got).not.toHaveProperty([name]);
  });

  it("another program gets none of them", async () => {
    const { got } = await launch("own-server npx", { env });
    expect(Object.keys(got)).toContain("HOME");
    for (const name of Object.keys(env)) expect(got).not.toHaveProperty([name]);
  });

  it("`inheritEnv` of the entry and of the whole configuration add to them", async () => {
    const { got } = await launch("npx some-server", {
      env,
      entry: { inheritEnv: ["NPM_TOKEN"] },
      settings: { inheritEnv: ["AWS_*"] },
    });
    expect(got).toMatchObject({
      NPM_TOKEN: "npm-token-1",
      AWS_SECRET_ACCESS_KEY: "aws-secret-1",
      ...network,
    });
  });

  it("`env` of the entry comes first", async () => {
    const { got } = await launch("npx some-server", { env, entry: { env: { NO_PROXY: "*" } } });
    expect(got["NO_PROXY"]).toBe("*");
  });

  it("npm's pauses between attempts are short, unless the user chose them", async () => {
    const pause = "npm_config_fetch_retry_mintimeout";
    expect((await launch("npx some-server")).got[pause]).toBe("500");
    expect((await launch("uvx some-server")).got).not.toHaveProperty(pause);
    const chosen = { NPM_CONFIG_FETCH_RETRIES: "5" };
    expect((await launch("npx some-server", { env: chosen })).got).not.toHaveProperty(pause);
    const prepare = (sandbox: Sandbox) =>
      writeFileSync(join(sandbox.home, ".npmrc"), "fund=false\nfetch-retry-mintimeout = 9000\n");
    expect((await launch("npx some-server", { prepare })).got).not.toHaveProperty(pause);
  });
});

const certificateError = `npm error code SELF_SIGNED_CERT_IN_CHAIN
npm error errno SELF_SIGNED_CERT_IN_CHAIN
npm error request to https://registry.example/some-server failed, reason: self-signed certificate in certificate chain
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log`;
const offline = `npm error code ENOTFOUND
npm error network request to https://registry.example/some-server failed, reason: getaddrinfo ENOTFOUND registry.example`;

describe("M44 a launcher that cannot download the server says why, and which variable helps", () => {
  it.each<[string, string, Record<string, string>, string, RegExp]>([
    [
      "npx -y some-server",
      certificateError,
      {},
      "npx does not trust the certificate of registry.example",
      /set NODE_EXTRA_CA_CERTS to/,
    ],
    [
      "npx -y some-server",
      certificateError,
      network,
      "npx does not trust the certificate of",
      /Check that NODE_EXTRA_CA_CERTS \(\/etc\/company\.pem\)/,
    ],
    [
      "npx -y some-server",
      offline,
      {},
      "npx cannot reach registry.example (getaddrinfo ENOTFOUND",
      /Check the network\..*HTTPS_PROXY.*npm_config_registry/,
    ],
    [
      "npx -y some-server",
      offline,
      network,
      "npx cannot reach registry.example",
      /the proxy that https_proxy names \(http:\/\/proxy\.example:3128\)/,
    ],
    [
      "npx -y some-server",
      "npm error code E401\nnpm error 401 Unauthorized - GET https://npm.example/some-server",
      kept,
      "npm.example refused the download by npx",
      /NPM_TOKEN, npm_config_\/\/npm\.example\/:_authToken are set.*"inheritEnv": \["NPM_TOKEN"\]/,
    ],
    [
      "npx -y some-server",
      "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/some-server - Not found",
      {},
      "registry.example does not have the package",
      /^Check the name and the version\.$/,
    ],
    [
      "npx -y some-server",
      "npm error code ETARGET\nnpm error notarget No matching version found for some-part@^1.0.6.\nnpm error notarget In most cases you or one of your dependencies are requesting",
      {},
      "the package registry has no version that fits (No matching version found for some-part@^1.0.6)",
      /^Try another version of the server\.$/,
    ],
    [
      "bunx some-server",
      "Resolving dependencies\nerror: ConnectionRefused downloading package manifest some-server",
      {},
      "bunx cannot reach the package registry",
      /HTTPS_PROXY/,
    ],
    [
      "pnpm dlx some-server",
      "Error: ERR_PNPM_META_FETCH_FAIL\n\n  × adding\n  ╰─▶ Failed to fetch\n      metadata from https://npm.example/some-server: client error (Connect): invalid\n      peer certificate: UnknownIssuer",
      {},
      "pnpm does not trust the certificate of npm.example",
      /NODE_EXTRA_CA_CERTS/,
    ],
    [
      "uvx some-server",
      "  × Failed to fetch: `https://pypi.org/simple/some-server/`\n  ├─▶ Request failed after 3 retries\n  ╰─▶ invalid peer certificate: UnknownIssuer",
      {},
      "uvx does not trust the certificate of pypi.org",
      /set SSL_CERT_FILE to/,
    ],
    [
      "uvx some-server",
      "error: Failed to fetch: `https://pypi.org/simple/some-server/`\n  Caused by: error sending request\n  Caused by: dns error",
      {},
      "uvx cannot reach pypi.org",
      /UV_DEFAULT_INDEX/,
    ],
    [
      "pipx run some-server",
      "WARNING: Retrying (Retry(total=0)) after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))': /simple/",
      {},
      "pipx does not trust the certificate of",
      /SSL_CERT_FILE/,
    ],
  ])("%s: %#", async (line, stderr, env, says, advises) => {
    const { error } = await launch(line, { stderr, env });
    expect(error.message).toContain(`"demo" could not be installed: ${says}`);
    expect(error.hint).toMatch(advises);
    expect(error).toMatchObject({ code: "server-exited", executed: "no", retryable: true });
  });

  it("a launcher that hangs without asking anybody: nothing is said of a registry", async () => {
    const entry = { startupTimeoutMs: 1000 };
    const prepare = (sandbox: Sandbox) => void sandbox.write("bin/npx", "#!/bin/sh\ncat > /dev/null\nexit\n");
    const { error } = await launch("npx some-server", { entry, prepare });
    expect(error).toMatchObject({
      code: "start-timeout",
      message: '"demo" was not installed and started within 1 s.',
    });
    expect(error.hint).not.toContain("registry");
  });

  it("a server's own trouble is not taken for the launcher's", async () => {
    const stderr = "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap (node:net:1)";
    const { error } = await launch("npx some-server", { stderr });
    expect(error.message).toContain("It printed: Error: connect ECONNREFUSED 127.0.0.1:5432");
    expect(error.message).not.toContain("installed");
    const words = "TypeError: Failed to fetch: connect ECONNREFUSED 127.0.0.1:5432";
    expect((await launch("npx some-server", { stderr: words })).error.message).toContain(`printed: ${words}`);
  });

  it("never repeats a proxy's password", async () => {
    const env = { HTTPS_PROXY: "http://ada:correct-horse-battery@proxy.example:3128" };
    const stderr = `${offline}\nnpm error proxy ${env.HTTPS_PROXY}`;
    const { error } = await launch("npx some-server", { stderr, env });
    const all = JSON.stringify([error.message, error.hint, error.data]);
    expect(all).toContain("proxy.example:3128");
    expect(all).not.toMatch(/correct-horse|ada:/);
  });
});
