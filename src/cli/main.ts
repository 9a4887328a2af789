#!/usr/bin/env node
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { runtimeProblem } from "../lib/runtime.ts";
import { version } from "../lib/version.ts";

// Import nothing heavy above: `--version` is answered here, and an old runtime must get a message, not a stack trace.
const problem = runtimeProblem(process.versions);
const [first] = process.argv.slice(2);

// People share Node.js crash reports, and the environment contains secrets.
if (process.report) process.report.excludeEnv = true;

if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else if (first === "--version" || first === "-V" || first === "version") {
  process.stdout.write(`${version}\n`);
} else {
  cacheCompiledCode();
  void import("./run.ts").then(({ main }) => main(process.argv.slice(2)));
}

/**
 * Caches compiled code only under the user's home folder: anyone who can write to the cache can run code, and a
 * project could point XDG_CACHE_HOME at its own folder.
 */
function cacheCompiledCode(): void {
  const home = process.env["HOME"];
  if (!home?.startsWith("/") || !existsSync(home) || process.platform === "win32") return;
  // Deno has no such cache.
  nodeModule.enableCompileCache?.(`${home}/.cache/plugboard/compile`);
}
