import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const inputSchema = { type: "object" };
const mail = {
  tools: [
    { name: "send_mail", description: "Sends a message.\nTo anybody.", inputSchema },
    { name: "read_mail", description: "Reads a message", inputSchema },
  ],
};
const files = {
  tools: [
    { name: "read_file", description: "Reads a file", inputSchema },
    { name: "evil", description: "Reads \u001b[2Jgone\u202e letters", inputSchema },
    { name: "secret_mail", description: "Mail that is hidden", inputSchema },
  ],
};

function setUp() {
  const servers = {
    files: { ...fakeStdio(files), tools: { deny: ["secret_*"] } },
    mail: fakeStdio(mail),
  };
  return createSandbox({ [user]: { mcpServers: servers } });
}

describe("M49 plugboard search", () => {
  it("lists the best tools of all servers first, one line each, and then from remembered lists", async () => {
    const box = setUp();
    const first = await box.cli(["search", "send", "a", "mail"]);
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out.split("\n")[0]).toMatch(/^ {2}mcp__mail__send_mail +Sends a message\.$/);
    expect(first.out).not.toContain("secret_mail");
    const second = await box.cli(["search", "send a mail"]);
    expect(second).toMatchObject({ out: first.out, err: expect.stringContaining("--refresh") as unknown });
  });

  it("takes --limit, --server and --json", async () => {
    const box = setUp();
    const one = await box.cli(["search", "read", "--limit", "1", "--json"]);
    expect(one.json).toMatchObject({
      results: [
        { tool: { name: expect.stringMatching(/^read_/) as unknown }, score: expect.any(Number) as unknown },
      ],
      servers: [{ server: "files" }, { server: "mail" }],
      failures: [],
    });
    expect((one.json as { results: unknown[] }).results).toHaveLength(1);
    const there = await box.cli(["search", "read", "--server", "mail"]);
    expect(there.out.trim().split("\n")).toEqual([expect.stringContaining("mcp__mail__read_mail")]);
  });

  it("escapes what servers say", async () => {
    const { out } = await setUp().cli(["search", "letters"]);
    expect(out).toContain("mcp__files__evil");
    expect(out).not.toMatch(/[\u001b\u202e]/);
  });

  it("says what to do when nothing is found, and exits with 1", async () => {
    const run = await setUp().cli(["search", "bake", "bread"]);
    expect(run).toMatchObject({ code: 1, out: expect.stringContaining("plugboard tools") as unknown });
    const asJson = await setUp().cli(["search", "bake bread", "--json"]);
    expect(asJson).toMatchObject({ code: 1, json: { results: [] } });
    const empty = await createSandbox().cli(["search", "mail"]);
    expect(empty).toMatchObject({ code: 1, out: expect.stringContaining("plugboard add") as unknown });
  });

  it.each([
    [["search", "?!"], "The search has no words."],
    [["search"], "Missing required argument"],
    [["search", "mail", "--limit", "0"], "starting at 1"],
    [["search", "mail", "--limit", "many"], "starting at 1"],
  ])("refuses %j without starting a server", async (args, message) => {
    const box = createSandbox();
    const log = box.path("log");
    box.write(user, { mcpServers: { files: fakeStdio({ ...files, log }) } });
    const { code, err } = await box.cli(args);
    expect(err).toContain(message);
    expect(code).toBe(2);
    expect(existsSync(log)).toBe(false);
  });

  it("suggests the server that was meant", async () => {
    const run = await setUp().cli(["search", "read", "--server", "mial"]);
    expect(run).toMatchObject({ code: 4, err: expect.stringContaining("mail") as unknown });
  });

  it("finds what there is when a server fails, and says so", async () => {
    const broken = { command: "plugboard-no-such-program" };
    const box = createSandbox({ [user]: { mcpServers: { broken, mail: fakeStdio(mail) } } });
    const run = await box.cli(["search", "send mail"]);
    expect(run.out).toContain("mcp__mail__send_mail");
    expect(run.err).toContain("broken");
    expect(run.code).toBe(0);
    const nothing = await box.cli(["search", "bake bread"]);
    expect(nothing).toMatchObject({ code: 1, err: expect.stringContaining("broken") as unknown });
    expect((await box.cli(["search", "send mail", "--server", "broken"])).code).toBe(5);
  });
});
