import { describe, expect, it } from "vitest";
import { serverState, serverStates } from "../../src/host.ts";
import { createHub, loadConfig } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

function setUp() {
  return createSandbox({
    [user]: {
      mcpServers: {
        vault: { command: "node", args: ["server.js"], env: { TOKEN: "${secret:ISSUES}" } },
        variable: { command: "node", args: ["${NOT_SET}"] },
        header: { url: "https://issues.example/mcp", bearerTokenEnv: "NO_TOKEN" },
        fine: { command: "node", env: { TOKEN: "${secret:OTHER:-none}", HERE: "${secret:HERE}" } },
      },
    },
  });
}

describe("M03 a value that is not set", () => {
  it("is known to list, get, explain and doctor without connecting", async () => {
    const box = setUp();
    box.env["HERE"] = "in the environment";
    const { json, out } = await box.cli(["list", "--json"]);
    expect(json["servers"]).toMatchObject([
      { name: "vault", state: "missing-value", reason: "the secret ISSUES is not set" },
      { name: "variable", state: "missing-value", reason: "NOT_SET is not set" },
      { name: "header", state: "missing-value", reason: "NO_TOKEN is not set" },
      { name: "fine", state: "ready" },
    ]);
    expect(out).not.toContain("in the environment");
    expect((await box.cli(["get", "vault"])).out).toContain("the secret ISSUES is not set");
    expect((await box.cli(["explain", "vault"])).out).toMatch(/state +missing-value: the secret ISSUES/);
    const doctor = await box.cli(["doctor"]);
    expect(doctor.code).toBe(3);
    for (const name of ["vault", "variable", "header"])
      expect(doctor.out).toMatch(new RegExp(`^✗ ${name}  .*[A-Z] is not set$`, "m"));
    expect(doctor.out).toMatch(/^✓ fine /m);
  });

  it("is not missing any more once the secret is stored, or stands in one of the user's .env files", async () => {
    const box = setUp();
    await box.cli(["secret", "set", "ISSUES", "-"], { input: "hush" });
    expect((await box.cli(["explain", "vault"])).out).toMatch(/state +ready/);
    box.write("home/.env", "HERE=from a file\n");
    const config = JSON.parse(box.read(user)) as object;
    box.write(user, { ...config, secrets: { envFiles: ["~/.env"] } });
    expect((await box.cli(["explain", "fine"])).out).toMatch(/state +ready/);
  });

  it("has the same name in status, which does not start such a server and fails", async () => {
    const box = setUp();
    const run = await box.cli(["status", "vault", "variable"]);
    expect(run.code).toBe(3);
    expect(run.out).toMatch(/^vault +missing-value .*ISSUES/m);
    expect(run.out).toMatch(/^✗ vault  the secret ISSUES is not set$/m);
  });
});

describe("M23 doctor", () => {
  it("puts what is broken first, names secrets in arguments, and warns of versions in one line", async () => {
    const key = "abcdefghijklmnop";
    const box = createSandbox({
      [user]: {
        mcpServers: {
          latest: { command: "npx", args: ["-y", "notes-server@latest", "--api-key", key] },
          newest: { command: "npx", args: ["-y", "mail-server", `--token=${key}`] },
          fixed: { command: "npx", args: ["-y", "files-server@1.2.3"] },
          gone: { command: "no-such-program" },
        },
      },
    });
    const { out } = await box.cli(["doctor"]);
    const lines = out.split("\n");
    expect(lines[0]).toContain("✗ gone  no-such-program was not found in PATH");
    const marks = lines.map((line) => line[0]).filter((mark) => "✗!✓".includes(mark ?? " "));
    expect(marks).toEqual(
      marks.toSorted((one, other) => "✗!✓".indexOf(one ?? "") - "✗!✓".indexOf(other ?? "")),
    );
    expect(out).toContain("! latest  --api-key is a plain-text secret\n");
    expect(out).toContain("! newest  --token is a plain-text secret\n");
    expect(out).not.toContain(key);
    expect(lines.filter((line) => line.includes("not pinned"))).toEqual([
      "! packages  not pinned to a version, so a newer one may run at any start: latest (notes-server@latest), newest (mail-server)",
    ]);
  });
});

describe("M23 a server's state", () => {
  it("has one name in list, explain, status and the library, and status --help says what each means", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { off: { command: "node", enabled: false }, wrong: { comand: "node" } } },
      "project/.mcp.json": { mcpServers: { theirs: { command: "node" } } },
    });
    const config = await loadConfig(box.options);
    await using hub = await createHub(config);
    const expected = { off: "off", wrong: "invalid", theirs: "untrusted" };
    const inLibrary = hub.status().map((report) => [report.name, serverState(report)]);
    expect(Object.fromEntries(inLibrary)).toEqual(expected);
    const list = (await box.cli(["list"])).out;
    const status = (await box.cli(["status"])).out;
    for (const [name, state] of Object.entries(expected)) {
      const entry = config.servers.get(name);
      expect(entry && serverState(entry.status)).toBe(state);
      expect(list).toMatch(new RegExp(`^${name} +${state} `, "m"));
      expect(status).toMatch(new RegExp(`^${name} +${state} `, "m"));
      expect((await box.cli(["explain", name])).out).toMatch(new RegExp(`state +${state}: `));
    }
    const help = (await box.cli(["status", "--help"])).out;
    for (const [state, meaning] of Object.entries(serverStates))
      expect(help).toMatch(new RegExp(`^ +${state} +${meaning}$`, "m"));
  });
});
