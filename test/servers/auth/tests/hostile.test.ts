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

  test("differs from an honest one in just what it is named after", async () => {
    const honest = await start();
    const normal = Object.keys(await metadata(honest.auth));
    for (const name of names.filter((name) => entry(name).options("http://e").auth?.alter?.metadata)) {
      const { auth, elsewhere, close } = await startHostile(name);
      const said = await metadata(auth);
      const right = (field: string): unknown =>
        ({ issuer: auth.issuer, token_endpoint: `${auth.issuer}/token` })[field];
      const text = JSON.stringify(said);
      const endpoint = { authorize: "authorization", token: "token", register: "registration" }[
        name.split("-")[0] ?? ""
      ];
      if (endpoint !== undefined) {
        const url = String(said[`${endpoint}_endpoint`]);
        expect(url, name).not.toBe(`${auth.issuer}/${name.split("-")[0]}`);
        expect(entry(name).what, name).toContain(entry(name).stopsAt === "through" ? "query" : endpoint);
      } else if (name.startsWith("issuer")) expect(said["issuer"], name).not.toBe(right("issuer"));
      else if (name === "mix-up") expect(text).toContain(`${elsewhere.origin}/token`);
      else
        expect(said["code_challenge_methods_supported"], name).toEqual(
          name === "pkce-plain" ? ["plain"] : undefined,
        );
      expect(Object.keys(said).filter((field) => !normal.includes(field))).toEqual([]);
      await close();
    }
  });

  test.each(["javascript", "file", "data", "http"])("names endpoints with the scheme %s", async (scheme) => {
    for (const [name, field] of [
      ["authorize", "authorization"],
      ["token", "token"],
      ["register", "registration"],
    ]) {
      const { auth, close } = await startHostile(`${name}-${scheme}` as HostileName);
      expect(new URL(String((await metadata(auth))[`${field}_endpoint`]))).toMatchObject({
        protocol: `${scheme}:`,
      });
      await close();
    }
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

  test.each(named("authorization-server"))("points at: %s", async (name) => {
    const { auth, server } = await startNamed(name);
    const { authorization_servers } = (await (await fetch(aboutResource(server))).json()) as Json;
    expect(authorization_servers).not.toEqual([auth.issuer]);
  });
});
