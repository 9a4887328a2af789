import { Option } from "commander";
import type { Command } from "commander";
import type { LoadedConfig, Workspace } from "../../index.ts";
import { connectionFindings } from "../views/connection-findings.ts";
import { examine } from "../views/examination.ts";
import { findingLines } from "../views/finding.ts";
import type { Finding } from "../views/finding.ts";
import { drawWhile, printLines } from "../terminal/live-area.ts";
import { onlyServers, withHub } from "../with-hub.ts";
import { count, json } from "../terminal/print.ts";
import { checkProvider, providerFindings, providers } from "../views/provider-check.ts";
import type { Provider, ProviderTool } from "../views/provider-check.ts";
import { StatusBoard, exitCodeOf } from "../views/status/board.ts";
import { tableLines } from "../views/status/lines.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface DoctorOptions extends CommonOptions {
  connect?: boolean;
  provider?: Provider;
}

export function command(terminal: Terminal): Command {
  return verb(
    "doctor",
    "Find problems and suggest fixes. Without --connect, starts no server and sends no request.",
    ["doctor", "doctor --connect", "doctor --connect files", "doctor --provider gemini", "doctor --json"],
  )
    .argument("[names...]", "the servers to check (default: all)")
    .option("--connect", "also connect to the servers")
    .addOption(
      new Option("--provider <name>", "also check every known tool's schema against this model API").choices(
        providers,
      ),
    )
    .action(async (names: string[], options: DoctorOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const whole = await workspace.load();
        for (const name of names) workspace.require(whole, name);
        const config = onlyServers(whole, names);
        const findings = examine(workspace, config, options.connect ?? false);
        if (findings.some(isProblem)) terminal.exitCode = 3;
        if (options.connect) findings.push(...(await connectAll(workspace, config, options, terminal)));
        const provided = await tryProvider(workspace, config, options.provider, terminal);
        findings.push(...provided.findings);
        const problems = findings.filter(isProblem).length;
        if (options.json) {
          const { tools } = provided;
          return terminal.out(json({ healthy: problems === 0, findings, ...(tools && { tools }) }));
        }
        const width = terminal.isLive ? terminal.columns - 1 : Infinity;
        terminal.out(
          printLines(
            findings.flatMap((finding) => findingLines(finding, width)),
            terminal,
          ),
        );
        terminal.out(problems === 0 ? "No problems found.\n" : `${count(problems, "problem")} found.\n`);
      }),
    );
}

function isProblem({ level }: Finding): boolean {
  return level === "problem";
}

async function tryProvider(
  workspace: Workspace,
  config: LoadedConfig,
  provider: Provider | undefined,
  terminal: Terminal,
): Promise<{ findings: Finding[]; tools?: ProviderTool[] }> {
  if (provider === undefined) return { findings: [] };
  return withHub(terminal, { config, tolerant: true }, workspace, async (hub) => {
    const tools = await checkProvider(hub, provider);
    const findings = await providerFindings(hub, provider, tools);
    if (findings.some(isProblem)) terminal.exitCode ||= 3;
    return { findings, tools };
  });
}

async function connectAll(
  workspace: Workspace,
  config: LoadedConfig,
  { json: isQuiet }: DoctorOptions,
  terminal: Terminal,
): Promise<Finding[]> {
  return withHub(terminal, { config, tolerant: true }, workspace, async (hub, signal) => {
    const board = new StatusBoard(hub, { keepsTrying: false });
    const frame = () => {
      const entry = (name: string) => board.entry(name);
      return tableLines({ rows: board.rows(), entry, width: terminal.columns - 1, now: Date.now() });
    };
    if (isQuiet) await board.connect();
    else
      await drawWhile(terminal, { frame, signal, keep: false }, (redraw) => {
        board.onChange = redraw;
        return board.connect();
      });
    const rows = board.rows();
    terminal.exitCode ||= exitCodeOf(rows);
    return rows.flatMap((row) => connectionFindings(row, board.entry(row.name)));
  });
}
