import type { Command } from "commander";
import { describeOrigin, explainServer } from "../../config.ts";
import { serverState } from "../../host.ts";
import type { Origin, ServerExplanation } from "../../config.ts";
import { json, painter, safe } from "../terminal/print.ts";
import { askedVariables } from "../views/asked-variables.ts";
import { explainOneTool } from "../views/tool-explanation.ts";
import { diagnosticLine } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import { reportLostRule } from "../with-hub.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb(
    "explain",
    "Explain the state of a server or tool, and which file and line sets it. Starts no server.",
    ["explain issues", "explain issues.delete_issue"],
  )
    .argument("<name>", "a server or a tool")
    .action(async (name: string, options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        reportLostRule(config, terminal);
        if (!config.servers.has(name)) return explainOneTool(workspace, config, name, options, terminal);
        const loaded = await workspace.load({ secrets: true });
        const explanation = explainServer(loaded, name);
        const entry = loaded.servers.get(name);
        if (!explanation || !entry) return;
        const asked = askedVariables(workspace, entry);
        if (options.json)
          return terminal.out(json({ ...explanation, ...(asked && { withheld: asked.names }) }));
        terminal.out(describe(explanation, terminal, asked?.advice));
      }),
    );
}

function describe(explanation: ServerExplanation, terminal: Terminal, advice?: string): string {
  const paint = painter(terminal);
  const { name, status, decidedBy, origin, policy, trust, lock, shadowed, bundles, fields, diagnostics } =
    explanation;
  const where = decidedBy ? `, \`${decidedBy.rule}\` in ${place(decidedBy.origin)}` : "";
  const lines: [string, string][] = [
    ["from", describeOrigin(origin)],
    [
      "state",
      status.kind === "ready" ? serverState(status) : `${serverState(status)}: ${status.message}${where}`,
    ],
  ];
  if (status.kind === "disabled") lines.push(["to do", status.hint]);
  else if (advice !== undefined) lines.push(["to do", advice]);
  lines.push(["policy", policyWords(policy)], ["trust", trustWords[trust]]);
  if (lock) lines.push(["lock", lockWords(lock)]);
  for (const other of shadowed) lines.push(["hides", describeOrigin(other)]);
  for (const bundle of bundles)
    lines.push(["bundle", `${bundle.name}, from ${describeOrigin(bundle.origin)}`]);
  for (const [field, at] of Object.entries(fields)) {
    lines.push(["field", `${field}  ${place(at)}`]);
  }
  const body = lines.map(([label, text]) => `  ${paint("dim", label.padEnd(7))} ${safe(text)}\n`).join("");
  const wrong = diagnostics.map((diagnostic) => diagnosticLine(diagnostic, terminal, "out")).join("");
  return `${paint("bold", safe(name))}\n${body}${wrong}`;
}

function place(origin: Origin): string {
  const { file, line } = origin;
  if (file === undefined) return describeOrigin(origin);
  return line === undefined ? file : `${file}:${line}`;
}

function lockWords({ file, broken }: NonNullable<ServerExplanation["lock"]>): string {
  return broken === undefined ? `pinned in ${file}` : `${file} ${broken}, so nothing is offered`;
}

const trustWords: Record<ServerExplanation["trust"], string> = {
  "not-needed": "not needed: it is in your own configuration",
  trusted: "you trusted exactly this content",
  untrusted: "you have not trusted this content",
};

function policyWords({ verdict, file }: ServerExplanation["policy"]): string {
  if (verdict === "none") return "none on this machine";
  return `${verdict} by ${file}`;
}
