import { existsSync } from "node:fs";
import { shownUrl, shownWord } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { programCandidates } from "../../lib/program-path.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A host with a port or path, or a dotted name; not a script, whose ending would make it look like one. */
const hostLike =
  /^(?:localhost|\[[0-9a-f:]+\]|\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d{1,5})?(?:\/\S*)?$/i;
const scriptLike = /^[^/]*\.(?:[cm]?[jt]s|py|sh|bash|rb|pl|php|ps1|exe|cmd|bat|jar|bin|run)$/i;
const loopback = /^(?:localhost|127\.|\[::1\])/i;

/** Throws if what should be a command is an address: of a transport that does not exist, or without its https://. */
export function assertNoAddress(
  name: string,
  target: string,
  args: readonly string[],
  terminal: Terminal,
): void {
  const [, other = ""] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(target) ?? [];
  if (other !== "") {
    const web = target.replace(/^ws(s?):/i, "http$1:");
    throw new PlugboardError(
      "usage-invalid",
      `${other}:// is not supported: an MCP server has an http:// or https:// address.`,
      {
        hint: web === target ? "" : `If it also has one, try: ${suggestion(name, web)}`,
      },
    );
  }
  const [, wrong] = /^(https?):/i.exec(target) ?? [];
  if (wrong !== undefined)
    throw new PlugboardError("usage-invalid", `"${shownWord(target)}" is not a valid address.`, {
      hint: `Try: ${suggestion(name, target.replace(/^(https?):\/*/i, "$1://"))}`,
    });
  if (args.length > 0 || !hostLike.test(target) || scriptLike.test(target) || isProgram(target, terminal))
    return;
  const scheme = loopback.test(target) ? "http://" : "https://";
  throw new PlugboardError(
    "usage-invalid",
    `There is no program "${shownWord(target)}" here. If it is an address, it needs ${scheme} in front.`,
    {
      hint: `For a program that is not installed yet, add --transport stdio. For an address, try: ${suggestion(name, scheme + target)}`,
    },
  );
}

function suggestion(name: string, url: string): string {
  return joinArgv(["plugboard", "add", name, shownUrl(url)]);
}

function isProgram(command: string, { cwd, env }: Terminal): boolean {
  return programCandidates({ command, cwd, env, platform: process.platform }).some(existsSync);
}
