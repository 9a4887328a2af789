import type { DefinitionFlag } from "../../host.ts";
import type { ToolEntry } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { count } from "../terminal/print.ts";
import type { Finding } from "./finding.ts";
import { flagWords } from "./pin-report.ts";

/** The tools that a lock file sets aside, by server. */
export function pinFindings(tools: readonly ToolEntry[]): Finding[] {
  const names = new Map<string, string[]>();
  for (const { server, name, pin } of tools) {
    if (!pin) continue;
    if (!names.has(server)) names.set(server, []);
    names.get(server)?.push(name);
  }
  return [...names].map(([about, aside]) => ({
    level: "note",
    about,
    message: `${count(aside.length, "tool is", "tools are")} set aside by plugboard.lock: ${shown(aside)}`,
    advice: `Run \`${joinArgv(["plugboard", "lock", about])}\` to see what changed, and approve it if it is right.`,
  }));
}

export function flagFinding(flag: DefinitionFlag): Finding {
  return { level: "note", about: flag.server, message: flagWords(flag) };
}

function shown(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return `${names.slice(0, 5).join(", ")}${more}`;
}
