import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";
import { redirectOf } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import type { CliRun, Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

/** A server in the user's configuration, and a person who is logged in to it. */
async function open(options: AuthOptions = {}, entry: object = {}) {
  const auth = await startAuthServer({ autoConsent: true, ...options });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const box = createSandbox({ [user]: { mcpServers: { issues: { url: server.url, ...entry } } } });
  expect((await logIn(box, "issues")).code).toBe(0);
  return { auth, server, box };
}

async function logIn(box: Sandbox, ...args: string[]): Promise<CliRun> {
  const address = Promise.withResolvers<string>();
  return box.cli(["login", ...args, "--no-browser"], {
    get input() {
      return address.promise.then((url) => redirectOf(new URL(url))) as unknown as string;
    },
    onErr: (err) => {
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/authorize\S+/.exec(err) ?? [];
      if (url !== undefined) address.resolve(url);
    },
  });
}

const revocations = ({ received }: { received: { endpoint: string }[] }) =>
  received.filter(({ endpoint }) => endpoint === "revoke").length;

describe("M72 plugboard remove", () => {
  it.each([
    ["asks in a terminal", [], [true]],
    ["does not ask with --logout", ["--logout"], undefined],
  ] as const)("logs out as well: %s", async (_name, flags, forms) => {
    const { auth, box } = await open();
    const run = await box.cli(["remove", "issues", ...flags], forms ? { forms: [...forms] } : {});
    expect(run.code).toBe(0);
    expect(run.out).toContain("Logged out of issues");
    if (forms) expect(run.asked.join("\n")).toMatch(/issues .* as ada at http.*\nLog out as well\?/s);
    expect(revocations(auth)).toBeGreaterThan(0);
    expect((await box.cli(["logout", "issues"])).code).toBe(4);
  });

  it.each([
    ["in a terminal", [false]],
    ["without one", undefined],
  ])("keeps the login if nobody wants to log out, and names the command: %s", async (_name, forms) => {
    const { auth, box } = await open();
    const { err } = await box.cli(["remove", "issues"], forms ? { forms } : {});
    expect(err).toContain("To end it: plugboard logout issues");
    expect(revocations(auth)).toBe(0);
    expect((await box.cli(["logout", "issues", "--json"])).json).toEqual({
      server: "issues",
      loggedOut: true,
      revoked: true,
    });
    expect(revocations(auth)).toBeGreaterThan(0);
  });

  it("says in JSON what is left, and asks nothing", async () => {
    const { box } = await open();
    const { json, asked } = await box.cli(["remove", "issues", "--json"], { forms: [] });
    expect(asked).toEqual([]);
    expect(json).toMatchObject({
      removed: "issues",
      loggedOut: [],
      unused: { logins: [{ server: "issues", user: "ada" }], secrets: [] },
    });
    expect(JSON.stringify(json)).not.toMatch(/token|registered/);
  });

  it("keeps a login that another entry uses, here or in another project", async () => {
    const { server, box } = await open();
    await box.cli(["add", "twin", server.url]);
    const quiet = await box.cli(["remove", "issues"], { forms: [] });
    expect([quiet.asked, quiet.out + quiet.err]).toEqual([[], expect.not.stringContaining("log")]);
    // The local scope of another project.
    const elsewhere = box.write("home/.local/state/plugboard/projects/other.json", {
      mcpServers: { theirs: { url: server.url } },
    });
    expect((await box.cli(["remove", "twin"], { forms: [] })).err).toBe("");
    expect((await box.cli(["doctor"])).out).not.toContain("no known server uses it");
    rmSync(elsewhere);
    expect((await box.cli(["doctor"])).out).toContain("plugboard logout issues");
  });

  it("keeps what the usual files use if another file is named", async () => {
    const { auth, server, box } = await open();
    await box.cli(["secret", "set", "TEAM", "-"], { input: "red" });
    const entry = { url: server.url, headers: { "X-Team": "${secret:TEAM}" } };
    box.write(user, { mcpServers: { issues: entry } });
    box.env["PLUGBOARD_CONFIG"] = box.write("home/own.json", { mcpServers: { same: entry } });
    const run = await box.cli(["remove", "same", "--logout", "--json"]);
    expect(run.json).toMatchObject({ loggedOut: [], unused: { logins: [], secrets: [] } });
    expect(revocations(auth)).toBe(0);
    expect((await box.cli(["doctor"])).out).not.toContain("no known server uses it");
    expect((await box.cli(["secret", "list", "--json"])).json).toMatchObject({
      secrets: [{ name: "TEAM", usedBy: [{ server: "issues", file: box.path(user) }] }],
    });
  });

  it("names the secret that nobody uses any more", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { it: { command: "true", env: { TOKEN: "${secret:IT_TOKEN}" } } } },
    });
    await box.cli(["secret", "set", "IT_TOKEN", "-"], { input: "hush" });
    const { err } = await box.cli(["remove", "it"]);
    expect(err).toContain("To delete it: plugboard secret remove IT_TOKEN");
  });

  it("works while the vault cannot be read", async () => {
    const { box } = await open();
    box.write("home/.local/state/plugboard/vault/vault.json", '{"version":99}');
    expect((await box.cli(["remove", "issues"])).code).toBe(0);
  });
});

describe("M72 plugboard logout", () => {
  it.each([
    ["its name", () => "issues"],
    ["its URL", ({ server }) => server.url],
    ["its authorization server", ({ auth }) => auth.issuer],
    ["the host of its authorization server", ({ auth }) => new URL(auth.issuer).host],
  ] as [string, (scene: Awaited<ReturnType<typeof open>>) => string][])(
    "ends the login of a removed server by %s",
    async (_name, word) => {
      const scene = await open();
      await scene.box.cli(["remove", "issues", "--keep-login"]);
      const run = await scene.box.cli(["logout", word(scene)]);
      expect([run.code, run.out]).toEqual([0, expect.stringContaining("Logged out of")]);
      expect(revocations(scene.auth)).toBeGreaterThan(0);
      expect((await scene.box.cli(["secret", "list", "--json"])).json).toMatchObject({ unusedLogins: [] });
    },
  );

  it("ends the login from before the server was changed, and the current one", async () => {
    const clients = [
      {
        client_id: "mine",
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "none" as const,
      },
    ];
    const { auth, server, box } = await open({ clients });
    box.write(user, { mcpServers: { issues: { url: server.url, oauth: { clientId: "mine" } } } });
    expect((await box.cli(["doctor"])).out).toContain("plugboard logout issues");
    await logIn(box, "issues");
    const before = revocations(auth);
    expect((await box.cli(["logout", "issues"])).code).toBe(0);
    expect(revocations(auth) - before).toBe(4);
    expect((await box.cli(["doctor"])).out).not.toContain("logout");
  });

  it("ends only the named account", async () => {
    const { box } = await open();
    await logIn(box, "issues", "--profile", "work");
    await box.cli(["remove", "issues", "--keep-login"]);
    expect((await box.cli(["logout", "issues", "--profile", "work"])).code).toBe(0);
    const { unusedLogins } = (await box.cli(["secret", "list", "--json"])).json;
    expect(unusedLogins).toMatchObject([{ profile: "default" }]);
  });

  it("--all ends every login, and asks in a terminal", async () => {
    const { box } = await open();
    await logIn(box, "issues", "--profile", "work");
    const declined = await box.cli(["logout", "--all"], { forms: [false] });
    expect(declined.asked.at(-1)).toBe("End 2 logins?");
    expect(declined.out).toBe("Nothing was changed.\n");
    const { json } = await box.cli(["logout", "--all", "--json"]);
    expect(json["loggedOut"]).toMatchObject([{ revoked: true }, { revoked: true }]);
    expect((await box.cli(["logout", "--all"])).out).toBe("You are not logged in anywhere.\n");
  });

  it.each([[], ["issues", "--all"], ["--all", "--profile", "work"]])("refuses %j", async (...args) => {
    const box = createSandbox();
    expect((await box.cli(["logout", ...args])).code).toBe(2);
  });

  it("does not know a name that never had a login", async () => {
    const { code, err } = await createSandbox().cli(["logout", "nobody"]);
    expect([code, err]).toEqual([4, expect.stringContaining('There is no server "nobody"')]);
  });
});

describe("M72 what belongs to nothing", () => {
  it("is named by secret list and doctor, with the command that deletes it", async () => {
    const { box } = await open();
    await box.cli(["secret", "set", "OLD_TOKEN", "-"], { input: "hush" });
    await box.cli(["remove", "issues", "--keep-login"]);
    const listed = await box.cli(["secret", "list"]);
    for (const text of [listed.out + listed.err, (await box.cli(["doctor"])).out]) {
      expect(text).toMatch(/issues \(http.*\) as ada at http/);
      expect(text).toContain("plugboard logout issues");
      expect(text).toContain("plugboard secret remove OLD_TOKEN");
    }
    expect(listed.out).toContain("nothing known");
  });

  it("is not what a setting, a shadowed or a broken file uses", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { it: { command: "true", env: { TOKEN: "${secret:SHADOWED}" } } } },
      "project/.mcp.json": '{ "mcpServers": { "broken": { "url": "${secret:BROKEN}" ',
    });
    await box.cli(["add", "it", "-e", "TOKEN=${secret:LOCAL:-none}", "--", "true"]);
    for (const name of ["SHADOWED", "BROKEN", "LOCAL"])
      await box.cli(["secret", "set", name, "-"], { input: "hush" });
    const { secrets } = (await box.cli(["secret", "list", "--json"])).json as { secrets: { usedBy: [] }[] };
    expect(secrets.map(({ usedBy }) => usedBy.length)).toEqual([1, 1, 1]);
    expect((await box.cli(["doctor"])).out).not.toContain("secret remove");
  });
});

describe("plugboard doctor", () => {
  it.each([
    ["another program's", (box: Sandbox) => emptyDatabase(stateFile(box))],
    ["a folder", (box: Sandbox) => mkdirSync(stateFile(box))],
    ["writable for others", (box: Sandbox) => chmodSync(dirname(stateFile(box)), 0o777)],
  ])("reports a state that cannot be used: %s", async (_name, spoil) => {
    const box = createSandbox({ [user]: { mcpServers: { it: { command: "true" } } } });
    mkdirSync(dirname(stateFile(box)), { recursive: true });
    spoil(box);
    const change = await box.cli(["add", "b", "--", "true"]);
    expect(change.code).toBe(5);
    const run = await box.cli(["doctor"]);
    expect(run).toMatchObject({ code: 3, out: expect.stringMatching(/^✗ state {2}.*cannot be changed$/m) });
    expect(run.out).toContain("1 problem found");
    expect(run.out + change.err).not.toContain("Set `store`");
  });

  it("and secret list report what in the vault cannot be read", async () => {
    const box = createSandbox();
    for (const name of ["A", "B"]) await box.cli(["secret", "set", name, "-"], { input: "hush" });
    rmSync(join(dirname(stateFile(box)), "vault", "vault.key"));
    const message = "2 records cannot be read. The key file ";
    expect((await box.cli(["doctor"])).out).toContain(`vault  ${message}`);
    expect((await box.cli(["secret", "list"])).err).toContain(message);
  });

  it("names servers that choose where configured credentials go", async () => {
    const url = "https://issues.example/mcp";
    const oauth = { clientId: "mine", clientSecret: "${secret:MINE}" };
    const box = createSandbox({
      [user]: { mcpServers: { open: { url, oauth }, named: { url, oauth: { ...oauth, issuer: url } } } },
    });
    const { out } = await box.cli(["doctor", "open"]);
    expect(out).toContain("the first authorization server that the server names");
    expect(out).toContain("`oauth.issuer`");
    expect((await box.cli(["doctor", "named"])).out).not.toContain("oauth.issuer");
  });
});

function stateFile({ folders }: Sandbox): string {
  return join(folders.state, "state.sqlite");
}

function emptyDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE theirs (a)");
  database.close();
  chmodSync(path, 0o600);
}
