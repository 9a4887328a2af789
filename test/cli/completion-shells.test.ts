import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { completionScene, oddUri } from "./completion-scene.ts";
import { lacks } from "../machine.ts";
import { openShell } from "./typed-in-shell.ts";

describe.each(["bash", "zsh", "fish"] as const)("M12 completion in %s", (shell) => {
  const isMissing = lacks("script", shell);

  it.skipIf(isMissing)(`inserts verbs, names, arguments and values as they are meant`, async () => {
    const box = await completionScene();
    box.write("project/letter one.txt", "");
    const { tab } = await openShell(shell, box);
    expect(await tab("stat")).toEqual(["status"]);
    expect(await tab("call files.f")).toEqual(["call", "files.find"]);
    expect(await tab("call files.find pa")).toEqual(["call", "files.find", "path="]);
    // Without a space after `=`, the value follows right away.
    expect(await tab("call files.find mo\tf")).toEqual(["call", "files.find", "mode=fast"]);
    expect(await tab("call files.find mode=v")).toEqual(["call", "files.find", "mode=very slow"]);
    expect(await tab("call files.find mode=very\\ s")).toEqual(["call", "files.find", "mode=very slow"]);
    expect(await tab("call files.find mode=i")).toEqual(["call", "files.find", "mode=it's $HOME"]);
    expect(await tab("call files.find --mode f")).toEqual(["call", "files.find", "--mode", "fast"]);
    expect(await tab("call files.find tags=red,gre")).toEqual(["call", "files.find", "tags=red,green"]);
    expect(await tab("call files.find path=let")).toEqual(["call", "files.find", "path=letter one.txt"]);
    expect(await tab("call files.find --trace=")).toEqual(["call", "files.find", "--trace=json"]);
    expect(await tab("prompt files.report si")).toEqual(["prompt", "files.report", "since="]);
    expect(await tab("read files note://t")).toEqual(["read", "files", "note://today"]);
    expect(await tab("read files log")).toEqual(["read", "files", "log://days/"]);
    expect(await tab("get web --profile w")).toEqual(["get", "web", "--profile", "work"]);
    expect(await tab("export code")).toEqual(["export", "codex"]);
  });

  it.skipIf(isMissing)(`quotes what a shell would run, and goes on in open quotes`, async () => {
    const box = await completionScene();
    const { tab } = await openShell(shell, box);
    expect(await tab("read files note://a")).toEqual(["read", "files", oddUri]);
    expect(await tab('call files.find "mode=very s')).toEqual(["call", "files.find", "mode=very slow"]);
    expect(await tab("call files.find 'mode=very s")).toEqual(["call", "files.find", "mode=very slow"]);
    expect(existsSync(box.path("project/pwned"))).toBe(false);
  });
});
