import { describe, expect, it } from "vitest";
import { rulingOf } from "../../../src/config/approval/rules.ts";
import type { ApprovalFields } from "../../../src/config/approval/rules.ts";
import { loadConfig } from "../../../src/index.ts";
import { createSandbox } from "../../sandbox.ts";

const write = { server: "files", name: "write_file" };
const modeOf = (fields: ApprovalFields, args: Record<string, unknown> = {}, otherwise = "approve" as const) =>
  rulingOf(write, args, fields, otherwise).mode;

const docs = {
  default: "prompt",
  rules: [{ tools: "write_*", when: { "/path": ["docs/*", "notes/*"] }, mode: "approve" }],
} as const;
const etc = { rules: [{ when: { "/path": "/etc/*" }, mode: "deny" }] } as const;
const loose = (args: Record<string, unknown>) => modeOf({ server: structuredClone(docs) as never }, args);
const strict = (args: Record<string, unknown>) => modeOf({ server: structuredClone(etc) as never }, args);

describe("M60 conditions on arguments", () => {
  it.each([
    ["the value matches", "docs/a.md", "approve"],
    ["another pattern of the list matches", "notes/b", "approve"],
    ["the value does not match", "src/a.ts", "prompt"],
    ["a path leaves the folder", "docs/../src/a.ts", "prompt"],
    ["a path leaves the folder, escaped", "docs/%2e%2e/src/a.ts", "prompt"],
    ["a path leaves the folder over an empty step", "docs//../src/a.ts", "prompt"],
    ["a path leaves the folder, on Windows", "docs/..\\src\\a.ts", "prompt"],
    ["a URL leaves the folder, with tabs that its readers leave out", "docs/.\t./src/a.ts", "prompt"],
    ["a URL leaves the folder at its end", "docs/..?a", "prompt"],
    ["a URL leaves the folder, with parameters", "docs/x/..;/..;y=1/src/a.ts", "prompt"],
    ["a URL stays in the folder", "docs/x/..?a=/..?/b", "approve"],
    ["a text has several lines", "docs/a\nb", "approve"],
    ["a path stays in the folder", "docs/x/../a.md", "approve"],
    ["a path leads from one allowed folder to another", "docs/../notes/a", "approve"],
    ["every value of a list matches", ["docs/a", "notes/b"], "approve"],
    ["one value of a list does not match", ["docs/a", "/etc/passwd"], "prompt"],
    ["a list is empty", [], "prompt"],
    ["the value is an object", { name: "docs/a" }, "prompt"],
    ["the value is too long to be compared", `docs/${"a".repeat(20_000)}`, "prompt"],
    ["there is no value", undefined, "prompt"],
    ["the value is null", null, "prompt"],
  ])("loosen only what they are sure of: %s", (_, path, mode) => {
    expect(loose({ ...(path !== undefined && { path }) })).toBe(mode);
  });

  it.each([
    ["the value matches", "/etc/passwd", "deny"],
    ["the value does not match", "/tmp/a", "approve"],
    ["a path leads there", "/tmp/../etc/passwd", "deny"],
    ["a path leads there, escaped", "/tmp/%2E%2E%2Fetc/passwd", "deny"],
    ["a path leads there from above the root", "/../etc/passwd", "deny"],
    ["a URL leads there, with line breaks and spaces that its readers leave out", " /tmp/.\n./etc/a", "deny"],
    ["one value of a list matches", ["a", ["/etc/passwd"]], "deny"],
    ["the value is an object", { file: "/etc/passwd" }, "deny"],
    ["the value is too long to be compared", `/tmp/${"a".repeat(20_000)}`, "deny"],
    ["there is no value", undefined, "approve"],
  ])("deny also what cannot be compared: %s", (_, path, mode) => {
    expect(strict({ ...(path !== undefined && { path }) })).toBe(mode);
  });

  it("compare numbers and switches as JSON writes them, and follow pointers through objects and lists", () => {
    const field = (when: Record<string, string>) => ({
      server: { rules: [{ when, mode: "deny" as const }] },
    });
    expect(modeOf(field({ "/amount": "1???*" }), { amount: 1000 })).toBe("deny");
    expect(modeOf(field({ "/amount": "1???*" }), { amount: 999 })).toBe("approve");
    expect(modeOf(field({ "/amount": "5*" }), { amount: 2 ** 60 })).toBe("deny");
    expect(modeOf(field({ "/force": "true" }), { force: true })).toBe("deny");
    expect(modeOf(field({ "/a~1b/~0c": "x" }), { "a/b": { "~c": "x" } })).toBe("deny");
    expect(modeOf(field({ "/files/*/path": "/etc/*" }), { files: [{ path: "a" }, { path: "/etc/x" }] })).toBe(
      "deny",
    );
    expect(modeOf(field({ "/files/1/path": "/etc/*" }), { files: [{ path: "/etc/x" }, { path: "a" }] })).toBe(
      "approve",
    );
    expect(modeOf(field({ "/files/path": "/etc/*" }), { files: [{ path: "a" }] })).toBe("deny");
    expect(modeOf(field({ "/__proto__": "*" }), {})).toBe("approve");
    expect(modeOf(field({ "/a": "x", "/b": "y" }), { a: "x", b: "z" })).toBe("approve");
    expect(modeOf(field({ "/a": "x", "/b": "y" }), { a: "x", b: "y" })).toBe("deny");
  });

  it("take time linear in hostile arguments", () => {
    const field = {
      server: { rules: [{ when: { "/path": `*${"a".repeat(400)}b` }, mode: "deny" as const }] },
    };
    const many = { path: Array.from({ length: 20_000 }, () => "a".repeat(10_000)) };
    expect(modeOf(field, many)).toBe("deny");
    const deep = JSON.parse(`${"[".repeat(900)}"/etc/x"${"]".repeat(900)}`) as unknown;
    expect(
      modeOf({ server: { rules: [{ when: { "/path": "/etc/*" }, mode: "deny" }] } }, { path: deep }),
    ).toBe("deny");
  });

  it("win by strictness within one field, and the server's field wins over the general one", () => {
    const tools = { "write_*": "prompt" } as const;
    const rules = [{ when: { "/path": "docs/*" }, mode: "approve" as const }];
    expect(modeOf({ server: { tools, rules } }, { path: "docs/a" })).toBe("prompt");
    expect(modeOf({ server: { rules }, settings: "deny" }, { path: "docs/a" })).toBe("approve");
    expect(modeOf({ server: { rules }, settings: "deny" }, { path: "src/a" })).toBe("deny");
    expect(modeOf({ server: { default: "auto", rules }, settings: "deny" }, { path: "src/a" })).toBe("auto");
    const maybe = { rules: [{ when: { "/path": "docs/*" }, mode: "prompt" as const }] };
    expect(modeOf({ server: maybe, settings: "approve" }, { path: ["docs/a", "b"] })).toBe("prompt");
    expect(modeOf({ server: maybe, settings: "deny" }, { path: ["docs/a", "b"] })).toBe("deny");
  });
});

describe("M61 approval in the managed policy", () => {
  const policy = { default: "auto", tools: { "write_*": "prompt" } } as const;

  it("is never looser than the user, nor the user looser than it", () => {
    const fields = (server: ApprovalFields["server"]) => ({ server, policy: { ...policy, rules: [] } });
    expect(modeOf(fields("approve"))).toBe("prompt");
    expect(modeOf(fields("deny"))).toBe("deny");
    expect(modeOf(fields(undefined))).toBe("prompt");
    expect(modeOf({ server: "deny", policy: "approve" })).toBe("deny");
    expect(modeOf({ policy: { rules: [{ servers: "FILES", mode: "deny" }] } })).toBe("deny");
    expect(modeOf({ policy: { rules: [{ servers: "other", mode: "deny" }] } })).toBe("approve");
    expect(
      modeOf({ policy: { rules: [{ when: { "/path": "/etc/*" }, mode: "deny" }] } }, { path: "/etc/x" }),
    ).toBe("deny");
  });
});

describe("M04 mistakes in approval rules", () => {
  const user = "home/.config/plugboard/config.json";

  it("are reported with file and line, and the server is not used", async () => {
    const box = createSandbox({
      [user]: `{ "mcpServers": { "files": { "command": "x", "approval": { "rules": [
        { "when": { "path": "docs/*" }, "mode": "approve" },
        { "when": { "/a~b": "x" }, "mode": "approve" },
        { "when": { "/path": "{docs,notes}/*" }, "mode": "approve" },
        { "when": { "/path": ["x", ""] }, "mode": "approve" },
        { "when": { "/path": "\${HOME}/*" }, "mode": "approve" },
        { "when": {}, "mode": "approve" },
        { "tools": [], "when": { "/path": "x" }, "mode": "aprove" }
      ] } } } }`,
    });
    const { diagnostics, servers } = await loadConfig(box.options);
    expect(servers.get("files")?.status).toMatchObject({ reason: "invalid" });
    expect(diagnostics.map(({ line, message }) => [line, message.slice(0, 28)])).toEqual([
      [2, "expected a JSON pointer to a"],
      [3, "in a JSON pointer, `~` is wr"],
      [4, "only `*` and `?` are wildcar"],
      [5, "must not be empty; `*` match"],
      [6, "references such as `${HOME}`"],
      [7, "needs at least one condition"],
      [8, "must not be empty"],
      [8, "expected `approve` or `auto`"],
    ]);
    expect(diagnostics.every(({ file }) => file === box.path(user))).toBe(true);
  });

  it("deny calls where they are in the general field, instead of being left out", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { files: { command: "x" } }, approval: { rules: [{ mode: "deny" }] } },
    });
    const { settings, settingRules, diagnostics } = await loadConfig(box.options);
    expect(settings.approval).toBe("deny");
    expect(settingRules["approval"]).toMatchObject({ file: box.path(user), line: 7 });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "expected an object, found nothing",
      "until this is corrected, every call is denied on servers without `approval` of their own",
    ]);
  });

  it("are told where a rule never applies", async () => {
    const approval = {
      tools: { "write_*": "prompt" },
      rules: [{ tools: "write_*", when: { "/a": "b" }, mode: "approve" }],
    };
    const box = createSandbox({ [user]: { mcpServers: { files: { command: "x", approval } } } });
    const { diagnostics, servers } = await loadConfig(box.options);
    expect(diagnostics).toMatchObject([{ severity: "warning", path: "mcpServers.files.approval.rules[0]" }]);
    expect(servers.get("files")?.status.kind).toBe("ready");
  });

  it("of the policy allow no server", async () => {
    const box = createSandbox({
      [user]: { mcpServers: { files: { command: "x" } } },
      "managed/managed.json": { approval: { rules: [{ when: { path: "x" }, mode: "deny" }] } },
    });
    const { servers } = await loadConfig(box.options);
    expect(servers.get("files")?.status).toMatchObject({
      reason: "policy",
      message: expect.stringContaining("approval.rules[0].when.path: expected a JSON pointer") as string,
    });
  });
});
