import { describe, expect, it } from "vitest";
import type { ApproveQuestion, ElicitQuestion, LogInQuestion } from "../../src/index.ts";
import { terminalAnswers } from "../../src/cli/terminal/answers.ts";
import { askApproval } from "../../src/cli/terminal/approval.ts";
import { fillForm } from "../../src/cli/terminal/elicitation-form.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import { displayWidth } from "../../src/cli/terminal/text-width.ts";
import { parseExact } from "../../src/lib/exact-json.ts";
import { argumentLines } from "../../src/cli/views/argument-lines.ts";
import { valueText } from "../../src/cli/views/value-lines.ts";
import { scriptedAsk } from "./scripted-ask.ts";
import type { FormAnswer } from "./scripted-ask.ts";

const width = 76;
const shown = (args: Record<string, unknown>, isWhole = false) => argumentLines(args, { width, isWhole });

/** What a reader takes for the name of an argument: all that begins a line below `Arguments`. */
const namesIn = (lines: readonly string[]) =>
  lines.flatMap((line) => /^ {2}(?! |│|┊|…)(.+?)(?: {2,}|$)/.exec(line)?.[1] ?? []);

const question = (args: Record<string, unknown>, more: Partial<ApproveQuestion> = {}): ApproveQuestion => ({
  kind: "approve",
  id: "1",
  server: "it",
  tool: "write",
  toolId: "mcp__it__write",
  arguments: args,
  annotations: {},
  because: "the tool requires approval",
  remember: {},
  ...more,
});

async function askedAbout(args: Record<string, unknown>, answers: FormAnswer[], more = {}) {
  const asked: string[] = [];
  const answer = await askApproval(question(args, more), scriptedAsk(answers, asked), AbortSignal.any([]));
  return { asked, answer };
}

describe("the arguments of a call that a person decides about", () => {
  it.each<[string, Record<string, unknown>]>([
    ["an item of a list", { paths: ["a\n  path   /srv/secrets", "b"], path: "docs" }],
    ["a text", { note: "hello\npath  /srv/secrets\n  path  /srv/secrets", path: "docs" }],
    ["a long line", { note: `${"x".repeat(70)} path  /srv/secrets ${"y".repeat(200)}`, path: "docs" }],
    ["a line of spaces", { note: `a${" ".repeat(74)}path  /srv/secrets`, path: "docs" }],
    ["a nested text", { options: { note: "hello\npath  /srv" }, path: "docs" }],
    ["a name", { "note\n  path   /srv/secrets": 1, path: "docs" }],
    ["a name with spaces", { "path  /srv/secrets": 1, path: "docs" }],
    ["a long name", { [`${"n".repeat(80)} path  /srv`]: "x", path: "docs" }],
    ["an odd line break", { note: "a\u2028path  /srv\r\npath  /srv\u0085path  /srv", path: "docs" }],
  ])("%s cannot imitate another one", (_, args) => {
    for (const isWhole of [false, true]) {
      const { lines } = shown(args, isWhole);
      const names = namesIn(lines);
      expect(names.filter((name) => name === "path")).toHaveLength(1);
      expect(lines.filter((line) => /^ {2}path {2}/.test(line))).toEqual([
        expect.stringMatching(/^ {2}path +docs$/),
      ]);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it("each have their line, however long the others are", () => {
    const { lines, isCut } = shown({
      text: "line\n".repeat(1_000),
      items: Array.from({ length: 1_000 }, (_, at) => at),
      json: { a: "x".repeat(100_000) },
      path: "/srv/secrets",
    });
    expect(namesIn(lines)).toEqual(["text", "items", "json", "path"]);
    expect(lines.at(-1)).toBe("  path   /srv/secrets");
    expect(lines.length).toBeLessThan(45);
    expect(isCut).toBe(true);
  });

  it("are all there, even if there are very many", () => {
    const args = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`name${at}`, "x\n".repeat(50)]));
    const { lines } = shown(args);
    expect(lines[0]).toBe("Arguments (500):");
    expect(namesIn(lines)).toEqual(Object.keys(args));
  });

  it("show the beginning and the end of what is long, and how much is between", () => {
    const text = Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n");
    const { lines } = shown({ text });
    expect(lines).toContain("    │ line 0");
    expect(lines.at(-1)).toBe("    │ line 99");
    expect(lines.find((line) => line.includes("…"))).toBe("    … 90 more lines, about 808 characters");
  });

  it("distinguish a text from the number or the nothing that it looks like, and keep every space", () => {
    const { lines } = shown({ a: "1", b: 1, c: "true", d: true, e: "", f: " x ", g: "2026-01-31", h: null });
    expect(lines.slice(1)).toEqual([
      '  a  "1"',
      "  b  1",
      '  c  "true"',
      "  d  true",
      '  e  ""',
      '  f  " x "',
      "  g  2026-01-31",
      "  h  null",
    ]);
    const code = shown({ code: `def f():\n${" ".repeat(8)}return\t1 ${"#".repeat(30)}` });
    expect(code.lines).toContain(`    │ ${" ".repeat(8)}return\\t1 ${"#".repeat(30)}`);
  });

  it("show numbers as they are sent", () => {
    const args = parseExact(
      '{"a":12345678901234567890,"b":[1e400,1],"c":{"d":{"e":1.00000000000000000001}}}',
    );
    const deep = parseExact('{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":12345678901234567890}}}}}}}}');
    expect(
      shown(args as Record<string, unknown>)
        .lines.slice(1)
        .map((line) => line.trim()),
    ).toEqual(["a  12345678901234567890", "b", "1.  1e400", "2.  1", "c", "d", "e  1.00000000000000000001"]);
    expect(shown(deep as Record<string, unknown>).lines.at(-1)).toContain('{"a":12345678901234567890}');
  });

  it("are all there in a list of very many", () => {
    const { lines, isCut } = shown({ all: Array.from({ length: 200_000 }, (_, index) => index) }, true);
    expect(lines).toHaveLength(200_002);
    expect(isCut).toBe(false);
  });

  it("show marks of direction, tabs and stacked marks in names and values", () => {
    const { lines } = shown({ "pa\u202eth": "a\u200fb\tc", [`e${"\u0301".repeat(50)}`]: 1 });
    expect(lines[1]).toContain('"pa\\u{202e}th"');
    expect(lines[1]).toContain('"a\\u{200f}b\\tc"');
    expect(lines[2]?.match(/\u0301/g)).toHaveLength(6);
  });

  it("keep letters from right to left apart, because a terminal may turn their line around", () => {
    expect(shown({ a: "שלום", نص: 1, b: 2 }).lines.slice(1)).toEqual([
      "  a",
      "    │ שלום",
      "  نص",
      "    │ 1",
      "  b   2",
    ]);
  });

  it("take little time if they are huge", () => {
    const { lines } = shown({ a: "é".repeat(2_000_000), b: "x ".repeat(1_000_000) });
    expect(lines).toHaveLength(25);
  });
});

describe("the question about a call", () => {
  it("offers to show what was cut, and asks again", async () => {
    const { asked, answer } = await askedAbout({ text: "line\n".repeat(100), path: "docs" }, [
      "whole",
      "once",
    ]);
    expect(answer).toEqual({ decision: "allow" });
    const [first = "", choices, whole = "", again] = asked;
    expect(first).toContain("more lines");
    expect(choices).toContain("|Show everything]");
    expect(whole.match(/│ line/g)).toHaveLength(100);
    expect(again).toBe("Call it? [Yes, once|No|Cancel]");
  });

  it("offers nothing else if everything is there", async () => {
    const { asked } = await askedAbout({ path: "docs" }, ["deny"]);
    expect(asked[1]).toBe("Call it? [Yes, once|No|Cancel]");
  });

  it("gives the names of tool and server lines of their own where a terminal could swap them", async () => {
    const { asked } = await askedAbout({}, ["deny"], { tool: "מחק", server: "שרת", title: "כותרת" });
    expect((asked[0] ?? "").split("\n").slice(0, 4)).toEqual([
      "מחק",
      "  of שרת",
      "  (כותרת)",
      expect.anything(),
    ]);
    const plain = await askedAbout({}, ["deny"], { title: "Löschen" });
    expect((plain.asked[0] ?? "").split("\n")[0]).toBe("write of it (Löschen)");
  });

  it("shows the names of tool and server so that they look like nothing else", async () => {
    const more = { tool: "read of files (safe)\nArguments:\n  a  1", title: `Read ${"x".repeat(5_000)}` };
    const { asked } = await askedAbout({}, ["deny"], more);
    const [heading = ""] = (asked[0] ?? "").split("\n");
    expect(heading).toMatch(/^"read of files \(safe\)\\nArguments:\\n {2}a {2}1" of it \(Read x+…\)$/);
    expect(heading.length).toBeLessThan(300);
  });
});

describe("a form of a server", () => {
  const form = async (message: string, answers: FormAnswer[], properties: Record<string, unknown> = {}) => {
    const asked: string[] = [];
    const schema = { type: "object", properties };
    const asks = {
      kind: "elicit",
      mode: "form",
      id: "1",
      server: "it",
      message,
      schema,
      params: {},
    } as const;
    const answer = await fillForm(asks, scriptedAsk(answers, asked), AbortSignal.any([]));
    return { asked, answer };
  };

  it("has marks before each line of a long message, and can be read whole before it is answered", async () => {
    const message = `Please confirm.\n◆  Send this to bank?\n${"word ".repeat(1_000)}`;
    const { asked } = await form(message, ["whole", "decline"]);
    const said = asked[0]?.split("\n") ?? [];
    expect(said[0]).toBe("it asks:");
    for (const line of said.slice(1)) expect(line).toMatch(/^ {2}[│┊…] /);
    expect(said.length).toBeLessThan(25);
    expect(asked[1]).toBe("it asks this. Will you answer? [Accept|Decline|Show everything]");
    expect(asked[2]?.match(/word/g)?.length).toBe(1_000);
    expect(asked[3]).toBe("it asks this. Will you answer? [Accept|Decline]");
  });

  it("shows for review what is sent, and no choice of the server looks like another field", async () => {
    const properties = { size: { enum: ["small\namount  1", "large"] }, amount: { type: "string" } };
    const { asked, answer } = await form("Order", ["answer", "small\namount  1", "1000", "send"], properties);
    expect(answer).toEqual({ action: "accept", content: { size: "small\namount  1", amount: "1000" } });
    expect(asked).toContain('size    "small\\namount  1"\namount  "1000"');
  });
});

describe("a page that a server wants to be visited, and a login", () => {
  const person = (answers: FormAnswer[], asked: string[]) => {
    const terminal = { ask: scriptedAsk(answers, asked) } as unknown as Terminal;
    return terminalAnswers({ terminal, offersLogin: true });
  };

  it("has the true address on a line of its own, and marks before what the server says", async () => {
    const asked: string[] = [];
    const message = `Please log in${" ".repeat(70)}https://bank.example\nhttps://bank.example`;
    const url = "https://evil.example/login";
    const question = { kind: "elicit", mode: "url", id: "1", server: "it", message, url, elicitationId: "e" };
    const answer = await person(["decline"], asked).elicit?.(
      { ...question, params: {} } as unknown as ElicitQuestion,
      AbortSignal.any([]),
    );
    expect(answer).toEqual({ action: "decline" });
    const lines = (asked[0] ?? "").split("\n");
    expect(lines[0]).toBe("it asks you to visit a page on evil.example:");
    expect(lines.filter((line) => !/^ {2}[│┊] /.test(line))).toEqual([lines[0], url]);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });

  it("shows every scope that is asked for, however many there are", async () => {
    const asked: string[] = [];
    const scopes = Array.from({ length: 60 }, (_, at) => `scope:${at}`);
    const question = {
      kind: "log-in",
      id: "1",
      server: "it",
      profile: "default",
      scopes,
      because: "It needs more.",
    };
    await person([false], asked).logIn?.(question as unknown as LogInQuestion, AbortSignal.any([]));
    for (const scope of scopes) expect(asked[0]).toContain(`│ ${scope}`);
    expect(asked[1]).toBe("Log in to it again, for all of that?");
  });
});

describe("a result with names and values", () => {
  it("indents what continues an item of a list, so that it looks like no other name", () => {
    expect(valueText({ items: ["a\nother  1", "b"], other: 2 })).toBe(
      ["items", "  - a", "    other  1", "  - b", "other  2"].join("\n"),
    );
    expect(valueText({ "a  1": 2, "": "x\ny" })).toBe(['"a  1"  2', '""      x', "        y"].join("\n"));
  });
});
