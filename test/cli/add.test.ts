import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";

describe("M02 add", () => {
  it("shows the entry that was added, and that another one shadows it", async () => {
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { files: { command: "theirs" } } } });
    const run = await box.cli(["add", "-s", "user", "files", "--", "mine", "--flag"]);
    expect(run.out).toContain("Added stdio server files to the user scope");
    expect(run.out).toContain("  mine --flag\n");
    expect(run.err).toMatch(/files is shadowed here, and the one in the project scope .* is used: theirs/);
    const { json } = await box.cli(["add", "-s", "user", "--force", "--json", "files", "--", "mine"]);
    expect(json).toMatchObject({
      added: "files",
      scope: "user",
      line: 3,
      server: { type: "stdio", target: "mine" },
      shadowedBy: { scope: "project", file: box.path("project/.mcp.json") },
    });
  });

  it.each([
    ["ws://x.example/mcp", "http://x.example/mcp"],
    ["wss://x.example/mcp", "https://x.example/mcp"],
    ["example.com", "https://example.com"],
    ["example.com/mcp", "https://example.com/mcp"],
    ["localhost:3000/mcp", "http://localhost:3000/mcp"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["https:/example.com", "https://example.com"],
  ])("takes %s for a mistake, and names a command that works", async (target, meant) => {
    const box = createSandbox();
    const run = await box.cli(["add", "web", target]);
    expect(run.code).toBe(2);
    expect(run.err).toContain(`plugboard add web ${meant}`);
    expect((await box.cli(["list", "--json"])).json["servers"]).toEqual([]);
    expect((await box.cli(["add", "web", meant])).code).toBe(0);
  });

  it("takes a program for one, whatever its name looks like", async () => {
    const box = createSandbox({ "project/my.tool/run": "" });
    for (const words of [["my.tool/run"], ["server.py"], ["-t", "stdio", "later.dev"]])
      expect((await box.cli(["add", "--force", "it", ...words])).code).toBe(0);
  });

  it("offers a person to try the server, and says what it offers or why it does not work", async () => {
    const box = createSandbox();
    const { command, args } = fakeStdio();
    const good = await box.cli(["add", "good", "--", command, ...args], { answers: [], forms: [true] });
    expect(good.asked).toEqual(["Start good now and list its tools?"]);
    expect(good.out).toMatch(/✓ good {2}connected over stdio: .*14 tools/);
    const bad = await box.cli(["add", "bad", "--", "no-such-program"], { answers: [], forms: [true] });
    expect(bad.out).toMatch(/✗ bad {2}.*no-such-program/);
    const no = await box.cli(["add", "later", "--", "no-such-program"], { answers: [], forms: [false] });
    expect(no.out).not.toContain("✗");
    expect((await box.cli(["list"])).out).toMatch(/^later /m);
  });

  it("does not ask without a terminal", async () => {
    const run = await createSandbox().cli(["add", "it", "--", "no-such-program"]);
    expect(run).toMatchObject({ code: 0, asked: [], err: "" });
  });
});

describe("M04 a mistake in the configuration", () => {
  it("such as an unknown server in a bundle is reported and fails, and the rest of the bundle works", async () => {
    const files = fakeStdio();
    const box = createSandbox({
      [user]: { mcpServers: { files }, bundles: { work: { servers: ["files", "fils"] } } },
    });
    const validate = await box.cli(["config", "validate"]);
    expect(validate).toMatchObject({ code: 3 });
    expect(validate.out).toContain(
      'bundles.work.servers[1]: there is no server "fils" — did you mean "files"?',
    );
    const list = await box.cli(["list"]);
    expect(list).toMatchObject({ code: 3 });
    expect(list.err).toContain('there is no server "fils"');
    const doctor = await box.cli(["doctor"]);
    expect(doctor).toMatchObject({ code: 3 });
    expect(doctor.out).toMatch(/^✗ .*bundles\.work\.servers\[1\] {2}there is no server "fils"/m);
    const status = await box.cli(["status", "--json"]);
    expect(status).toMatchObject({ code: 3, json: { healthy: false, servers: [{ state: "connected" }] } });
    expect(status.json["diagnostics"]).toMatchObject([{ path: "bundles.work.servers[1]" }]);
  });

  it.each(["list", "config show", "doctor", "config validate"])(
    "that makes a file unreadable fails %s",
    async (verb) => {
      const box = createSandbox({ [user]: '{ "mcpServers": { "files": {} "x": {} } }' });
      const run = await box.cli(verb.split(" "));
      expect(run.code).toBe(3);
      expect(run.err + run.out).toContain("a comma is missing");
    },
  );

  it("that puts an address into `command` is named", async () => {
    const box = createSandbox({ [user]: { mcpServers: { web: { command: "https://x.example/mcp" } } } });
    const { out } = await box.cli(["config", "validate"]);
    expect(out).toContain("mcpServers.web.command: a program is expected here, not an address — use `url`");
  });
});
