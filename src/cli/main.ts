#!/usr/bin/env node
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { version } from "../lib/version.ts";

// Nothing heavy may be imported above: `--version` answers from here, and an old Node.js gets a sentence, not a stack.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isTooOld = major < 22 || (major === 22 && minor < 22);
const [first] = process.argv.slice(2);

// A report that Node.js writes when it crashes is passed on to others, and the environment holds secrets.
if (process.report) process.report.excludeEnv = true;

if (isTooOld) {
  process.stderr.write(`Plugboard needs Node.js 22.22 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else if (first === "--version" || first === "-V" || first === "version") {
  process.stdout.write(`${version}\n`);
} else {
  cacheCompiledCode();
  void import("./run.ts").then(({ main }) => main(process.argv.slice(2)));
}

/**
 * Compiled code is code: it is cached only below the user's own home folder, never in a folder that others (or a
 * project, through XDG_CACHE_HOME) can fill.
 */
function cacheCompiledCode(): void {
  const home = process.env["HOME"];
  if (!home || !existsSync(home) || process.platform === "win32") return;
  nodeModule.enableCompileCache(`${home}/.cache/plugboard/compile`);
}
