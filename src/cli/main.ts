#!/usr/bin/env node
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { version } from "../lib/version.ts";

// Import nothing heavy above: `--version` is answered here, and an old Node.js must get a message, not a stack trace.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isTooOld = major < 22 || (major === 22 && minor < 22);
const [first] = process.argv.slice(2);

// People share Node.js crash reports, and the environment contains secrets.
if (process.report) process.report.excludeEnv = true;

if (isTooOld) {
  process.stderr.write(
    `Plugboard requires Node.js 22.22 or newer; you are running ${process.versions.node}.\n`,
  );
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
  nodeModule.enableCompileCache(`${home}/.cache/plugboard/compile`);
}
