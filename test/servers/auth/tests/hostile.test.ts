import { afterEach, describe, expect, test } from "vitest";
import {
  type AuthServer,
  type Hostile,
  hostile,
  type HostileName,
  type ProtectedMcp,
  startHostile,
} from "../index.ts";
import {
  closing,
  closeAll,
  type Json,
  MemoryProvider,
  start,
  connect,
  browse,
  logIn,
  at,
  publicClient,
  ask,
  tokensByHand,
} from "./fixture.ts";

afterEach(closeAll);

describe("a hostile server", () => {
  const names = Object.keys(hostile) as HostileName[];
  const entry = (name: HostileName): Hostile => hostile[name];
  const named = (part: string): HostileName[] => names.filter((name) => name.includes(part));

  async function startNamed(name: HostileName): ReturnType<typeof startHostile> {
    const servers = await startHostile(name, { change: { clients: [publicClient] } });
    closing.push(async () => {
      await servers.close();
      expect([...servers.auth.errors, ...servers.server.errors]).toEqual([]);
    });
    return servers;
  }

  const documents = (auth: AuthServer): string => `${auth.url}/.well-known/oauth-authorization-server`;
  const metadata = async (auth: AuthServer): Promise<Json> =>
    (await (await fetch(documents(auth))).json()) as Json;
  const aboutResource = (server: ProtectedMcp): string =>
    server.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");

  /** What its metadata says otherwise than an honest server's would. */
  async function lies(auth: AuthServer): Promise<Json> {
    const said = await metadata(auth);
    const { auth: honest } = await start();
    const normal = JSON.stringify(await metadata(honest)).replaceAll(honest.issuer, auth.issuer);
    const wrong = Object.entries(JSON.parse(normal) as Json).filter(
      ([name, value]) => JSON.stringify(said[name]) !== JSON.stringify(value),
    );
    return Object.fromEntries(wrong.map(([name]) => [name, said[name]]));
  }

  const schemes = {
    javascript: "javascript:",
    file: "file:",
    data: "data:",
    http: "http://attacker.example/",
  };
  const endpoints = {
    authorize: "authorization_endpoint",
    token: "token_endpoint",
    register: "registration_endpoint",
  };

  test.each(Object.entries(endpoints))("has another scheme for %s", async (name, field) => {
    for (const [scheme, begin] of Object.entries(schemes)) {
      const { auth } = await startNamed(`${name}-${scheme}` as HostileName);
      expect(await lies(auth)).toEqual({ [field]: expect.stringContaining(begin) as string });
    }
  });

  test.each<[HostileName, (auth: AuthServer, elsewhere: string) => Json]>([
    ["authorize-odd-scheme", () => ({ authorization_endpoint: "a:$(x)" })],
    ["authorize-not-a-url", () => ({ authorization_endpoint: "-flag" })],
    ["issuer-trailing-slash", ({ issuer }) => ({ issuer: `${issuer}/` })],
    ["issuer-case", ({ issuer }) => ({ issuer: issuer.replace("http", "HTTP") })],
    ["issuer-port", () => ({ issuer: "http://127.0.0.1:1" })],
    ["issuer-without-port", () => ({ issuer: "http://127.0.0.1" })],
    ["issuer-other", () => ({ issuer: "https://honest.example" })],
    ["issuer-missing", () => ({ issuer: undefined })],
    ["pkce-absent", () => ({ code_challenge_methods_supported: undefined })],
    ["pkce-plain", () => ({ code_challenge_methods_supported: ["plain"] })],
    [
      "mix-up",
      (_auth, elsewhere) => ({
        issuer: "https://honest.example",
        authorization_endpoint: "https://honest.example/authorize",
        token_endpoint: `${elsewhere}/token`,
      }),
    ],
  ])("says in its metadata: %s", async (name, expected) => {
    const { auth, elsewhere } = await startNamed(name);
    expect(await lies(auth)).toEqual(expected(auth, elsewhere.origin));
  });

  test.each(named("authorize-shell"))(
    "has a login page that works, with shell characters in its address: %s",
    async (name) => {
      const { auth, server } = await startNamed(name);
      await logIn(server, new MemoryProvider());
      const page = String((await metadata(auth))["authorization_endpoint"]);
      expect(page).toMatch(/[$`&|;'"]|%0A|--/);
      expect(at(auth, "authorize")[0]?.params.has("x")).toBe(true);
    },
  );

  test.each(named("resource-").filter((name) => !name.includes("metadata")))(
    "describes another resource: %s",
    async (name) => {
      const { server } = await startNamed(name);
      const { resource } = (await (await fetch(aboutResource(server))).json()) as Json;
      expect(resource).not.toBe(server.url);
      if (name !== "resource-prefix")
        await expect(connect(server, new MemoryProvider())).rejects.toThrow("does not match");
    },
  );

  test.each(names.filter((name) => entry(name).stopsAt === "callback"))(
    "answers a login with: %s",
    async (name) => {
      const { auth } = await startNamed(name);
      const back = await browse(ask(auth, { state: "s" }));
      const [field = "", how] = name.split("-");
      const good = { iss: auth.issuer, state: "s" }[field];
      if (back.has("error")) expect(back.get("error_description")).toContain("<script>");
      if (how === "missing") expect(back.has(field)).toBe(false);
      else if (how === "duplicated") expect(back.getAll(field)).toHaveLength(2);
      else if (good !== undefined) expect(back.get(field)).not.toBe(good);
    },
  );

  test.each(named("-redirect"))("sends requests to another origin: %s", async (name) => {
    const { auth, server, elsewhere } = await startNamed(name);
    const url = name.startsWith("resource")
      ? aboutResource(server)
      : name.startsWith("metadata")
        ? documents(auth)
        : `${auth.issuer}/${name.split("-")[0]}`;
    const isPost = url.startsWith(`${auth.issuer}/token`) || url.startsWith(`${auth.issuer}/register`);
    const body = "code=secret";
    await fetch(url, isPost ? { method: "POST", body } : {});
    const keeps = isPost && !name.endsWith("302");
    expect(elsewhere.received.map(({ body }) => body)).toEqual([keeps ? body : ""]);
  });

  test.each(named("-oversized"))("sends far too much: %s", async (name) => {
    const { auth, server } = await startNamed(name);
    const url = name.startsWith("resource")
      ? aboutResource(server)
      : name.startsWith("metadata")
        ? documents(auth)
        : `${auth.issuer}/${name.split("-")[0]}`;
    const response = await fetch(url, url.includes("well-known") ? {} : { method: "POST" });
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > 4_000_000) break;
    }
    expect(bytes).toBeGreaterThan(4_000_000);
  });

  test.each(named("-looping"))("is never done redirecting: %s", async (name) => {
    const { auth, server } = await startNamed(name);
    const url = name.startsWith("resource") ? aboutResource(server) : documents(auth);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    expect([...auth.received, ...server.received].length).toBeGreaterThan(20);
  });

  test.each(named("-not-json").concat("metadata-list", "token-error-script"))(
    "speaks nonsense: %s",
    async (name) => {
      const { auth, server } = await startNamed(name);
      const url = name.startsWith("resource")
        ? aboutResource(server)
        : name.startsWith("metadata")
          ? documents(auth)
          : `${auth.issuer}/token`;
      const text = await (await fetch(url, url.includes("well-known") ? {} : { method: "POST" })).text();
      expect(text).toMatch(/^<script>|^\[\]|error_description":"<script>/);
    },
  );

  test.each([
    ["token-line-break", { access_token: "a\r\nx-injected: 1" }],
    ["token-not-ascii", { access_token: "tökén €" }],
    ["token-other-type", { token_type: "mac" }],
  ] as const)("gives tokens that cannot be used: %s", async (name, expected) => {
    const { auth } = await startNamed(name);
    expect(await tokensByHand(auth)).toMatchObject(expected);
  });

  test("gives tokens that last as long as nobody can tell, or are long themselves", async () => {
    const lifetimes = { absent: undefined, zero: 0, negative: -1, text: "3600", huge: 1e12 };
    for (const [name, expected] of Object.entries(lifetimes)) {
      const { auth } = await startNamed(`token-expires-${name}` as HostileName);
      expect((await tokensByHand(auth))["expires_in"]).toBe(expected);
    }
    const { server } = await startNamed("token-long");
    const provider = new MemoryProvider();
    await logIn(server, provider);
    expect(provider.saved?.access_token).toHaveLength(12_000);
  });

  test.each(named("authorization-server"))("points at: %s", async (name) => {
    const { auth, server } = await startNamed(name);
    const { authorization_servers } = (await (await fetch(aboutResource(server))).json()) as Json;
    expect(authorization_servers).not.toEqual([auth.issuer]);
  });
});
