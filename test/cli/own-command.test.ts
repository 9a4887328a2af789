import { mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { ownCommand } from "../../src/cli/client/own-command.ts";
import { version } from "../../src/host.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

function link(box: Sandbox, from: string, to: string): string {
  mkdirSync(dirname(box.path(from)), { recursive: true });
  symlinkSync(box.path(to), box.path(from));
  return box.path(from);
}

describe("M10 how another program starts this Plugboard", () => {
  it("is the file itself, not the link on PATH, which an installation may remove", () => {
    const box = createSandbox();
    const program = box.write("lib/node_modules/plugboard/dist/cli/main.js", "");
    const bin = link(box, "shell/bin/plugboard", "lib/node_modules/plugboard/dist/cli/main.js");
    expect(ownCommand({}, { program: bin, node: "/opt/node" })).toEqual(["/opt/node", program]);
  });

  it("is npx where npx downloaded it, and for a file that others get too", () => {
    const box = createSandbox();
    const npx = ["npx", "-y", `plugboard@${version}`];
    const cached = box.write("npm/_npx/0123/node_modules/plugboard/dist/cli/main.js", "");
    expect(ownCommand({}, { program: cached })).toEqual(npx);
    expect(ownCommand({ isShared: true }, { program: box.write("here/main.js", "") })).toEqual(npx);
  });

  it("lasts over an upgrade by Homebrew or pnpm, which have a folder for each version", () => {
    const box = createSandbox();
    const node = box.write("brew/Cellar/node/24.1.0/bin/node", "");
    const lasting = link(box, "brew/bin/node", "brew/Cellar/node/24.1.0/bin/node");
    box.write("pnpm/5/.pnpm/plugboard@0.1.0/node_modules/plugboard/dist/cli/main.js", "");
    link(box, "pnpm/5/node_modules/plugboard", "pnpm/5/.pnpm/plugboard@0.1.0/node_modules/plugboard");
    const program = box.path("pnpm/5/node_modules/plugboard/dist/cli/main.js");
    expect(ownCommand({}, { program, node })).toEqual([lasting, program]);
    const without = box.write("other/Cellar/node@24/24.1.0/bin/node", "");
    expect(ownCommand({}, { program, node: without })[0]).toBe(without);
  });
});
