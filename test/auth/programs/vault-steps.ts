import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { Workspace } from "../../../src/config.ts";
import { isPlugboardError } from "../../../src/index.ts";

/** Does what standard input says with the vault of HOME, in whatever session this runs, and prints one answer per step. */
const steps = JSON.parse(await text(process.stdin)) as string[][];
await using workspace = await Workspace.open({ cwd: process.env["HOME"] ?? "/" });
const vault = await workspace.vault();
const answers: unknown[] = [];
for (const [verb, name = "", value] of steps) {
  try {
    if (verb === "set") answers.push(await vault.set(`secret/${name}`, value));
    else if (verb === "get") answers.push((await vault.get(`secret/${name}`)) ?? null);
    else answers.push(accounts());
  } catch (error) {
    answers.push({ reason: isPlugboardError(error) ? error.data?.["reason"] : String(error) });
  }
}
process.stdout.write(JSON.stringify(answers));

function accounts(): string[] {
  const { findCredentials } = createRequire(import.meta.url)("@napi-rs/keyring") as {
    findCredentials(service: string): { account: string }[];
  };
  return findCredentials("plugboard").map(({ account }) => account);
}
