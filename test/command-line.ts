import { resolve } from "node:path";

/**
 * The command line as it is published, which starts ten times as fast as the sources do in an empty home.
 * `test/fresh-build.ts` keeps it up to date.
 */
export const commandLine = resolve("dist/cli/main.js");
