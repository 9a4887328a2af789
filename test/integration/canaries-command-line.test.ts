import { mkdirSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { secretName, Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import { browser } from "../auth/oauth-fixture.ts";
import type { AuthReceived } from "../fixtures/auth/index.ts";
import { approving, CanaryCli, configured, pasting } from "./canary-cli.ts";
import type { RunOptions } from "./canary-cli.ts";
import { echoes, isCall, oauthEchoes, startEcho } from "./canary-echo.ts";
import type { Echo } from "./canary-echo.ts";
import { ofLogins, openLogin } from "./canary-login.ts";
import { firstOf } from "../rounds.ts";

describe.runIf(process.platform === "linux")("the command line repeats no credential", () => {
  it("not in logins, calls, renewals and their refusal", async () => {
    const scene = await openLogin();
    const { auth, issuer } = scene;
    const { cli, secrets, clientSecret } = await openCommandLine(scene);
    const client = ["--client-id", "known", "--client-secret", "client", `${scene.server.url}?client`];
    expect(await cli.run(["add", "--scope", "user", ...client, "--json"])).toMatchObject(ok);
    for (const [name, input] of Object.entries(secrets))
      expect(await cli.run(["secret", "set", name, "-"], { input })).toMatchObject(ok);
    const kept = ["secret", "set", "CLIENT_CLIENT_SECRET", "--from-env", "GIVEN", "--json"];
    expect(await cli.run(kept, { env: { GIVEN: clientSecret } })).toMatchObject(ok);

    cli.installBrowser();
    expect(await cli.run(["login", "issues"])).toMatchObject(ok);
    expect(cli.started.filter((line) => line.includes("xdg-open"))).toHaveLength(1);
    expect(await cli.run(["login", "issues", "--no-browser", "--json"], pasting())).toMatchObject(ok);
    expect(await cli.run(["login", "issues", "--device"], approving(auth))).toMatchObject(ok);
    expect(await cli.run(["login", "client"])).toMatchObject(ok);
    expect(await cli.run(["login", "keyed", "--json"])).toMatchObject(ok);
    expect(await cli.run(addition)).toMatchObject(ok);
    auth.expireAccessTokens();
    expect(await cli.run([...addition, "--json"])).toMatchObject(ok);
    expect(auth.stats.refreshes).toBe(1);

    issuer.repeat(oauthEchoes["an OAuth error"], ({ path }) => path.startsWith("/token"));
    auth.expireAccessTokens();
    expect(await cli.both(addition)).toMatchObject([{ code: 6 }, { code: 6 }]);
    expect(await cli.run(["login", "issues"])).toMatchObject({ code: 6 });
    expect(await cli.run(["login", "client", "--json"])).toMatchObject({ code: 6 });
    issuer.repeat(undefined);
    for (const grant of auth.grants) grant.revoked = "requested";
    expect(await cli.both(addition)).toMatchObject([{ code: 6 }, { code: 6 }]);
    await cli.both(["status", "issues"]);
    expect(await cli.run(["logout", "issues"])).toMatchObject(ok);
    expect(await cli.run(["logout", "client", "--json"])).toMatchObject(ok);
    expect(await cli.run(["secret", "remove", "HEADER_TOKEN", "--json"])).toMatchObject(ok);
    cli.seeTraces();
    const { planted, found } = scene.report();
    expect(found).toEqual([]);
    expect(planted).toEqual(
      expect.arrayContaining(["a device code", "a configured client secret", ...ofLogins]),
    );
  });

  it("not in what it shows", async () => {
    const scene = await openLogin();
    const { cli, prepare } = await openCommandLine(scene);
    await prepare();
    const looks = [
      "list",
      "config show",
      "config validate",
      "doctor",
      "secret list",
      "export codex",
      "export claude-desktop",
      "export cursor --write --dry-run",
      "export codex --write --yes",
      "sync",
    ];
    for (const name of ["secret", "literal", "keyed", "proxied", "program"])
      looks.push(`get ${name}`, `explain ${name}`);
    for (const look of [...looks, "status", "doctor --connect", "tools --refresh"])
      await cli.both(look.split(" "));
    const inside = [
      "status --trace --verbose",
      "tools --refresh --trace=json",
      "request bearer resources/list --trace --verbose",
      "request issues tools/list --trace=trace.jsonl",
      "logs program",
      "logs issues",
      "logs proxied",
    ];
    for (const look of inside) await cli.both(look.split(" "));
    cli.seeTraces();
    expect(scene.report().found).toEqual([]);
  });

  it("not in what a server repeats", async () => {
    const scene = await openLogin();
    const { cli, plain, prepare } = await openCommandLine(scene);
    await prepare();
    const repeat = (echo: Echo, to?: (request: AuthReceived) => boolean) => {
      for (const server of [plain, scene.server]) server.repeat(echo, to);
    };
    const refusals = [echoes["HTTP 401"], echoes["a JSON-RPC error"], echoes["HTTP 403"], echoes["HTTP 500"]];
    for (const echo of firstOf(2, refusals)) {
      repeat(echo, isCall);
      for (const name of ["issues", "bearer", "helper"]) {
        const runs = await cli.both(["call", `${name}.add`, "a=1", "b=2"]);
        expect(runs.map(({ code }) => code)).not.toContain(0);
        await cli.run(["call", `${name}.add`, "a=1", "b=2", "--trace", "--verbose"]);
        await cli.run(["logs", name]);
      }
      repeat(echo);
      await cli.both(["status"]);
    }
    cli.seeTraces();
    expect(scene.report().found).toEqual([]);
  });

  it("not in what Node.js writes about a crash", async () => {
    const scene = await openLogin();
    const { canaries } = scene;
    const cli = new CanaryCli(canaries, { issues: { url: scene.server.url } });
    const reports = cli.box.path("home/reports");
    mkdirSync(reports);
    const passphrase = canaries.plant("a passphrase");
    const crash = async (how: string, more: Pick<RunOptions, "env" | "onErr">) => {
      const nodeOptions = [how, `--report-directory=${reports}`];
      const env = { ...more.env, PLUGBOARD_VAULT_PASSPHRASE: passphrase };
      return cli.run(["login", "issues", "--no-browser"], { ...more, env, nodeOptions });
    };
    // By then the verifier is made, the registration's secret is kept and the vault is open.
    const isWaiting = (err: string) => err.includes("/authorize?");
    const crashed = await crash("--report-uncaught-exception", {
      env: { CANARY_CRASH: "yes" },
      onErr: (err, child) => void (isWaiting(err) && child.kill("SIGUSR2")),
    });
    expect(crashed).toMatchObject({ code: 1, err: expect.stringContaining("a crash on demand") });
    await crash("--report-on-signal", {
      onErr: (err, child) => {
        if (!isWaiting(err)) return;
        if (readdirSync(reports).length < 2) child.kill("SIGUSR2");
        if (err.includes("Node.js report completed")) child.stdin?.end();
      },
    });
    expect(readdirSync(reports)).toHaveLength(2);
    cli.seeTraces();
    expect(canaries.report()).toEqual({
      planted: ["a client secret", "a passphrase", "a registration token"],
      found: [],
    });
  });
});

const ok = { code: 0 };
const addition = ["call", "issues.add", "a=1", "b=2"];

/** A home with a server for every kind of credential. */
async function openCommandLine({ canaries, auth, server }: Awaited<ReturnType<typeof openLogin>>) {
  const plain = await startEcho();
  const { servers, env, secrets } = configured(canaries, { plain: plain.url, login: server.url });
  const cli = new CanaryCli(canaries, servers);
  Object.assign(cli.box.env, env);
  const clientSecret = canaries.plant("a configured client secret");
  auth.clients.set("known", {
    client_id: "known",
    client_secret: clientSecret,
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "client_secret_basic",
    source: "configured",
  });
  /** The secrets are kept and the login is there, without the command line. */
  const prepare = async () => {
    await using workspace = await Workspace.open(cli.box.options);
    const vault = await workspace.vault();
    for (const [name, value] of Object.entries(secrets)) await vault.set(secretName(name), value);
    const config = await workspace.load();
    await using hub = await createHub(config, await workspace.hubOptions(config));
    await hub.login("issues", browser());
  };
  return { cli, plain, secrets, clientSecret, prepare };
}
