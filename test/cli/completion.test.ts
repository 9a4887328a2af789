import { describe, expect, it } from "vitest";
import { formats } from "../../src/config/formats/index.ts";
import { readFakeLog } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { completionScene, oddUri } from "./completion-scene.ts";

/** The candidates for the last word. */
async function offered(box: Sandbox, ...line: string[]): Promise<string[]> {
  const { code, out } = await box.cli(["completion", "words", "--", ...line]);
  expect(code).toBe(0);
  return out.split("\n").slice(0, -1);
}

describe("M12 completion of a tool's arguments", () => {
  const names = ["path=", "mode=", "level=", "deep=", "maxResults=", "tags="];
  const inner = ["filter.since=", "filter.open="];

  it("offers what is not given yet, then values, and starts no server", async () => {
    const box = await completionScene();
    const before = readFakeLog(box.log).length;
    const after = (...words: string[]) => offered(box, "call", "files.find", ...words);
    expect(await after("")).toEqual([...names, ...inner, "timeout=", "constructor="]);
    expect(await after("path=x", "--deep", "--max-results", "5", "filter.since=2026", "t")).toEqual([
      "tags=",
      "timeout=",
    ]);
    expect(await after("path=x", "filter:={}", "f")).toEqual([]);
    expect(await after("mode=")).toEqual(["mode=fast", "mode=very slow", "mode=it's $HOME"]);
    expect(await after("mode=v")).toEqual(["mode=very slow"]);
    expect(await after("mode:=")).toContain('mode:="fast"');
    expect(await after("level=")).toEqual(["level=1", "level=20", "level=null"]);
    expect(await after("deep=")).toEqual(["deep=true", "deep=false"]);
    expect(await after("filter.open=t")).toEqual(["filter.open=true"]);
    expect(await after("tags=red,g")).toEqual(["tags=red,green", "tags=red,gray"]);
    expect(await after("constructor=")).toEqual(["constructor=plain"]);
    expect(await after("nope=")).toEqual([]);
    expect(await after("toString=")).toEqual([]);
    expect(await after("{}", "")).toEqual([]);
    expect(await offered(box, "call", "--url", "http://127.0.0.1:9", "find", "")).toEqual([]);
    expect(readFakeLog(box.log)).toHaveLength(before);
  });

  it("offers parameters as options after the tool's name, beside our own", async () => {
    const box = await completionScene();
    const after = (...words: string[]) => offered(box, "call", ...words);
    expect(await after("--m")).toEqual(["--max-tokens"]);
    expect(await after("files.find", "--m")).toEqual(["--max-tokens", "--mode", "--maxResults"]);
    expect(await after("files.find", "mode=fast", "--mo")).toEqual([]);
    expect(await after("files.find", "--time")).toEqual(["--timeout"]);
    expect(await after("files.find", "--mode", "f")).toEqual(["fast"]);
    expect(await after("files.find", "--mode=f")).toEqual(["--mode=fast"]);
    expect(await after("files.find", "--deep", "pa")).toEqual(["path="]);
    expect(await after("files.find", "--json", "pa")).toEqual(["path="]);
    expect(await after("files.find", "--tr")).toEqual(["--trace", "--trace="]);
    expect(await after("files.find", "--trace=")).toEqual(["--trace=json"]);
    expect(await after("files.find", "--trace", "pa")).toEqual(["path="]);
  });
});

describe("M12 completion of names", () => {
  it("offers prompts with their arguments, and the addresses of one server's resources", async () => {
    const box = await completionScene();
    expect(await offered(box, "prompt", "")).toEqual(["files.report", "mcp__files__report"]);
    expect(await offered(box, "prompt", "files.report", "")).toEqual(["since=", "style="]);
    expect(await offered(box, "prompt", "files.report", "2026", "")).toEqual(["style="]);
    expect(await offered(box, "prompt", "files.report", "style=x", "")).toEqual(["since="]);
    expect(await offered(box, "read", "")).toEqual(["files", "web", "other"]);
    expect(await offered(box, "read", "files", "")).toEqual(["note://today", oddUri, "log://days/"]);
    expect(await offered(box, "read", "web", "")).toEqual([]);
  });

  it("offers a server's accounts after --profile", async () => {
    const box = await completionScene();
    expect(await offered(box, "get", "web", "--profile", "")).toEqual(["work"]);
    expect(await offered(box, "call", "other.x", "--profile=")).toEqual(["--profile=home"]);
    expect(await offered(box, "chat", "--profile", "")).toEqual(["home", "work"]);
    expect(await offered(box, "serve", "--bundle", "r")).toEqual(["reading"]);
  });

  it("offers only formats that can be read or written", async () => {
    const box = createSandbox();
    const idsOf = (isMeant: (format: (typeof formats)[number]) => unknown) =>
      formats.filter(isMeant).map(({ id }) => id);
    const written = idsOf(({ write }) => write);
    expect(await offered(box, "export", "")).toEqual(written);
    expect(await offered(box, "import", "")).toEqual(idsOf(() => true));
    expect(written.length).toBeLessThan(formats.length);
    expect(await offered(box, "import", "codex", "cod")).toEqual([]);
    expect(await offered(box, "sync", "")).toEqual(idsOf(({ merging }) => merging));
    expect(await offered(box, "export", "codex", "--scope", "")).toEqual(["user", "project"]);
    expect(await offered(box, "completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  it("knows every verb, its short name, and what follows it", async () => {
    const box = await completionScene();
    expect(await offered(box, "l")).toEqual(["lock", "list", "ls", "logs", "login", "logout"]);
    expect(await offered(box, "rm", "fi")).toEqual(["files"]);
    expect(await offered(box, "help", "cha")).toEqual(["chat"]);
    for (const verb of ["logs", "request", "stop", "login", "logout", "remove"])
      expect(await offered(box, verb, "f"), verb).toEqual(["files"]);
    expect(await offered(box, "secret", "move", "w")).toEqual(["web"]);
    expect(await offered(box, "stop", "files", "")).toEqual(["web", "other"]);
    expect(await offered(box, "logs", "files", "")).toEqual([]);
    expect(await offered(box, "request", "files", "resources/r")).toEqual(["resources/read"]);
    expect(await offered(box, "chat", "--provider", "")).toEqual(["openai", "anthropic"]);
    expect(await offered(box, "nope", "")).toEqual([]);
    expect(await offered(box, "logs", "--config", "nowhere.json", "f")).toEqual([]);
  });

  it("inserts in bash only what bash replaces, whichever characters end words there", async () => {
    const box = await completionScene();
    const inserted = async (line: string, replaced: string) =>
      (await box.cli(["completion", "words", "--bash", "--", line, replaced])).out;
    expect(await inserted("plugboard read files note://t", "//t")).toBe("//today\n");
    expect(await inserted("plugboard read files note://t", "note://t")).toBe("note://today\n");
    expect(await inserted("plugboard call files.find mode=", "")).toBe(
      "fast\nvery\\ slow\nit\\'s\\ \\$HOME\n",
    );
    expect(await inserted('plugboard call files.find mode="i', "i")).toBe("it's \\$HOME\n");
    expect(await inserted("plugboard call files.find mode='", "")).toBe("fast\nvery slow\n");
    expect(await inserted("plugboard stat", "stat")).toBe("status\n");
    expect(await inserted("", "")).toContain("status\n");
  });

  it("offers nothing, in silence, if the configuration cannot be read", async () => {
    const box = createSandbox({ "project/plugboard.json": "{" });
    expect(await box.cli(["completion", "words", "--", "call", "--json", "x"])).toMatchObject({ out: "" });
  });
});
