import type { Command } from "commander";
import { examine } from "../examination.ts";
import type { Finding } from "../examination.ts";
import { count, json, painter, safe } from "../print.ts";
import type { Terminal } from "../terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb(
    "doctor",
    "Look for problems and say how to solve them. Starts no server and sends no request.",
    ["doctor", "doctor --json"],
  ).action(async (options: CommonOptions) =>
    withWorkspace(terminal, options, async (workspace) => {
      const findings = await examine(workspace);
      const problems = findings.filter(({ level }) => level === "problem").length;
      if (problems > 0) terminal.exitCode = 3;
      if (options.json) return terminal.out(json({ healthy: problems === 0, findings }));
      for (const finding of findings) terminal.out(findingLines(finding, terminal));
      terminal.out(problems === 0 ? "No problems found.\n" : `${count(problems, "problem")} found.\n`);
    }),
  );
}

function findingLines({ level, about, message, advice }: Finding, terminal: Terminal): string {
  const paint = painter(terminal);
  const marks = { ok: paint("green", "✓"), note: paint("yellow", "!"), problem: paint("red", "✗") };
  const next = advice === undefined ? "" : `  ${paint("dim", `→ ${safe(advice)}`)}\n`;
  return `${marks[level]} ${paint("bold", safe(about))}  ${safe(message)}\n${next}`;
}
