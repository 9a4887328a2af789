import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Hub, HubOptions } from "../../src/index.ts";
import { browser } from "../auth/oauth-fixture.ts";
import { createKey } from "../fixtures/auth/index.ts";
import type { AuthReceived } from "../fixtures/auth/index.ts";
import { echoes, isCall, oauthEchoes, startEcho } from "./canary-echo.ts";
import type { Echo } from "./canary-echo.ts";
import { ofLogins, openLogin } from "./canary-login.ts";
import { attempt, Canaries, openHub, seeHub } from "./canary-scene.ts";

const add = (hub: Hub) => hub.callTool("it.add", { a: 1, b: 2 });
const program = join(import.meta.dirname, "programs", "canary-program.mjs");
const sum = { structuredContent: { sum: 3 } };

type Plant = (what: string) => string;

interface Way {
  entry: object;
  options?: HubOptions;
  /** The echoes that can be heard. */
  only?: RegExp;
}

/** Every way to configure a credential, each with canaries of its own. */
const credentials: Record<string, (plant: Plant, origin: string) => Way> = {
  bearerTokenEnv: (plant) => ({
    entry: { bearerTokenEnv: "TOKEN" },
    options: { env: { TOKEN: plant("a variable") } },
  }),
  "bearerTokenEnv over the older transport": (plant, origin) => ({
    entry: { url: `${origin}/sse`, type: "sse", bearerTokenEnv: "TOKEN" },
    // Nobody reads what else comes in answer to a message.
    only: /^HTTP|challenge|scopes|redirect/,
    options: { env: { TOKEN: plant("a variable") } },
  }),
  headersFromEnv: (plant) => ({
    entry: { headersFromEnv: { "X-Api-Key": "KEY" } },
    options: { env: { KEY: plant("a variable") } },
  }),
  "literal headers": (plant) => ({
    entry: { headers: { "X-Api-Key": plant("a literal"), Cookie: `a=${plant("a cookie")}; b=c` } },
  }),
  "${secret:}": (plant) => {
    const secret = plant("a secret");
    return {
      entry: { headers: { Authorization: "Bearer ${secret:TOKEN}" } },
      options: { secrets: async () => secret },
    };
  },
  "a password": (plant) => {
    const basic = Buffer.from(`ada:${plant("a password")}`).toString("base64");
    return {
      entry: { headers: { Authorization: "Basic ${secret:BASIC}" } },
      options: { secrets: async () => basic },
    };
  },
  headersHelper: (plant) => ({
    entry: {
      headersHelper: [process.execPath, "-p", "JSON.stringify({ 'X-Session': process.env.PRINTED })"],
    },
    options: { env: { PRINTED: plant("a helper's output") } },
  }),
  "${cmd:}": (plant) => ({
    entry: { headers: { "X-Api-Key": `\${cmd:${process.execPath} -p process.env.PRINTED}` } },
    options: { env: { PRINTED: plant("a command's output") } },
  }),
  "a provider of the host": (plant) => {
    const token = plant("a provider's token");
    return { entry: { auth: "host" }, options: { authProviders: { host: { token: async () => token } } } };
  },
};

describe("the library repeats no credential", () => {
  it.each(Object.keys(credentials))("not %s, however a server echoes it", async (kind) => {
    const canaries = new Canaries();
    const echo = await startEcho();
    const kinds: string[] = [];
    const plant = (what: string) => canaries.plant((kinds.push(what), what));
    const { entry, options = {}, only = /./ }: Way = credentials[kind]?.(plant, echo.origin) ?? { entry: {} };
    const open = () => openHub(canaries, { url: echo.url, ...entry }, options);
    for (const [name, how] of Object.entries(echoes) as [string, Echo][]) {
      if (!only.test(name)) continue;
      const refused = await open();
      echo.repeat(how);
      expect(await attempt(canaries, `${name}, connecting`, () => refused.connect("it"))).toBeDefined();
      seeHub(canaries, name, refused);
      await refused.close();
      const connected = await open();
      echo.repeat(undefined);
      expect(await add(connected)).toMatchObject(sum);
      echo.repeat(how, isCall);
      expect(await attempt(canaries, `${name}, calling`, () => add(connected))).toBeDefined();
      seeHub(canaries, name, connected);
      await connected.close();
    }
    expect(canaries.report()).toEqual({ planted: kinds.sort(), found: [] });
  });

  it("not what a program is given, however it repeats that", async () => {
    const canaries = new Canaries();
    const env = { TOKEN: canaries.plant("a variable"), WORD: canaries.plant("an argument") };
    const modes = {
      dies: "server-exited",
      refuses: "protocol-error",
      "dies-later": "server-exited",
      works: "server-error",
    };
    for (const [mode, code] of Object.entries(modes)) {
      const entry = {
        command: process.execPath,
        args: [program, mode, "${WORD}"],
        env: { API_TOKEN: "${TOKEN}" },
      };
      const hub = await openHub(canaries, entry, { env });
      expect(await attempt(canaries, mode, () => add(hub))).toBe(code);
      seeHub(canaries, mode, hub);
      await hub.close();
    }
    expect(canaries.report()).toEqual({ planted: ["a variable", "an argument"], found: [] });
  });

  it("not a login, however its server echoes it", async () => {
    const scene = await openLogin({ hasMemory: true });
    const { canaries, auth, server, open } = scene;
    for (const [name, how] of Object.entries(echoes) as [string, Echo][]) {
      const hub = await open();
      server.forget();
      server.repeat(undefined);
      await hub.login("it", browser());
      expect(await add(hub)).toMatchObject(sum);
      server.repeat(how, isCall);
      await attempt(canaries, `${name}, calling`, () => add(hub));
      // The server may still repeat a token that was renewed meanwhile.
      server.repeat(undefined);
      auth.expireAccessTokens();
      scene.wait();
      expect(await add(hub)).toMatchObject(sum);
      server.repeat(how, isCall);
      await attempt(canaries, `${name}, renewed`, () => add(hub));
      seeHub(canaries, name, hub);
      await hub.close();
      server.forget();
      server.repeat(how);
      const other = await open();
      await attempt(canaries, `${name}, connecting`, () => other.connect("it"));
      await attempt(canaries, `${name}, logging in`, () => other.login("it", browser()));
      seeHub(canaries, name, other);
      await other.close();
    }
    expect(scene.report()).toEqual({ planted: ofLogins, found: [] });
  });

  it("not what goes to an authorization server, however that echoes it", async () => {
    const scene = await openLogin();
    const { canaries, auth, issuer, open } = scene;
    const to = (path: string) => (request: AuthReceived) => request.path.startsWith(path);
    const device = ({ code }: { code: string }) => auth.approveDevice(code);
    for (const [name, how] of Object.entries(oauthEchoes) as [string, Echo][]) {
      const hub = await open();
      for (const path of ["/register", "/token", "/userinfo"]) {
        issuer.repeat(how, to(path));
        await attempt(canaries, `${name} from ${path}`, () => hub.login("it", browser()));
        await hub.logout("it");
      }
      for (const path of ["/device_authorization", "/token"]) {
        issuer.repeat(how, to(path));
        const where = `${name} from ${path}, by device`;
        // A server that is only away is asked again, so somebody has to give up.
        const login = () => hub.login("it", { device, timeoutMs: 3_000 });
        expect(await attempt(canaries, where, login)).toBeDefined();
      }
      issuer.repeat(undefined);
      await hub.login("it", browser());
      expect(await add(hub)).toMatchObject(sum);
      auth.expireAccessTokens();
      issuer.repeat(how, to("/token"));
      expect(await attempt(canaries, `${name}, renewing`, () => add(hub))).toBeDefined();
      issuer.repeat(how, to("/revoke"));
      await attempt(canaries, `${name}, logging out`, () => hub.logout("it"));
      seeHub(canaries, name, hub);
      await hub.close();
    }
    expect(scene.report()).toEqual({ planted: ["a device code", ...ofLogins].sort(), found: [] });
  });

  it("not what logs in without a person, however an authorization server echoes it", async () => {
    const { canaries, issuer, open } = await openLogin();
    const key = createKey("ES256").pem;
    canaries.plant("a private key", key.split("\n")[1]);
    const ways = [
      { grant: "client-credentials", clientId: "robot", clientSecret: canaries.plant("a client secret") },
      { grant: "client-credentials", clientId: "signer", privateKey: key },
      { grant: "jwt-bearer", assertion: canaries.plant("a workload's token") },
    ];
    for (const oauth of ways) {
      for (const [name, how] of Object.entries(oauthEchoes) as [string, Echo][]) {
        issuer.repeat(how, ({ path }) => path.startsWith("/token"));
        const hub = await open({ oauth });
        expect(await attempt(canaries, name, () => hub.connect("it"))).toBeDefined();
        seeHub(canaries, name, hub);
        await hub.close();
      }
    }
    for (const { params } of issuer.received)
      for (const signed of params.getAll("client_assertion"))
        canaries.plant("a signature", signed.slice(-80));
    const planted = ["a client secret", "a private key", "a signature", "a workload's token"];
    expect(canaries.report()).toEqual({ planted, found: [] });
  });

  it("not what goes to a server that logs people in of its own", async () => {
    const scene = await openLogin();
    const { canaries, auth, issuer, open } = scene;
    const metadata = (all: object) =>
      JSON.parse(JSON.stringify(all).replaceAll(auth.url, issuer.origin)) as Record<string, unknown>;
    scene.alter({ metadata });
    auth.set({ iss: false });
    auth.resources.clear();
    const hub = await open({ url: issuer.url });
    for (const [name, how] of Object.entries(oauthEchoes) as [string, Echo][]) {
      issuer.repeat(how, ({ path }) => path.startsWith("/token"));
      expect(await attempt(canaries, name, () => hub.login("it", browser()))).toBeDefined();
    }
    const planted = ["a client secret", "a code", "a registration token", "a verifier"];
    expect(scene.report()).toEqual({ planted, found: [] });
  });

  it("not a code that comes back with an error", async () => {
    const scene = await openLogin();
    const { canaries, auth, open } = scene;
    const hub = await open();
    for (const field of ["error", "error_description", "error_uri", "iss", "state"]) {
      const authorization = (response: URLSearchParams) => {
        const code = response.get("code") ?? "";
        if (field.startsWith("error")) response.set("error", "access_denied");
        response.set(field, code);
        return response;
      };
      scene.alter({ authorization });
      // A response with another state is turned away, and the login waits for the right one.
      const patience = field === "state" ? { timeoutMs: 3_000 } : {};
      const login = () => hub.login("it", { ...browser(), ...patience });
      expect(await attempt(canaries, field, login)).toBeDefined();
    }
    scene.alter({});
    await hub.login("it", browser());
    expect(auth.stats.authorizations).toBe(6);
    expect(scene.report()).toEqual({ planted: ofLogins, found: [] });
  });
});
