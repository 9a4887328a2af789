import { Option } from "commander";
import type { Command } from "commander";
import { argumentMistakes, lostRule, unmatchedPatterns } from "../../config.ts";
import { isPlugboardError, PlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { brokenFindings, brokenInstalls, deleteBroken } from "../broken-installs.ts";
import { connectServers } from "../connect-servers.ts";
import { examine, fromDiagnostic } from "../views/examination.ts";
import { findingLines, ofSameConfig, worstFirst } from "../views/finding.ts";
import type { Finding } from "../views/finding.ts";
import { unreadableFindings, unusedFindings } from "../views/kept.ts";
import { flagFinding, pinFindings } from "../views/pin-findings.ts";
import { printLines } from "../terminal/live-area.ts";
import { onlyServers, withHub } from "../with-hub.ts";
import { count, hanging, json, screenWidth, sentence } from "../terminal/print.ts";
import { checkProvider, providerFindings, providers } from "../views/provider-check.ts";
import type { Provider, ProviderTool } from "../views/provider-check.ts";
import { warmFindings } from "../views/warm.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface DoctorOptions extends CommonOptions {
  connect?: boolean;
  fix?: boolean;
  yes?: boolean;
  provider?: Provider;
}

export function command(terminal: Terminal): Command {
  return verb(
    "doctor",
    "Find problems and suggest fixes. Without --connect, starts no server and sends no request.",
    [
      "doctor",
      "doctor --connect",
      "doctor --connect files",
      "doctor --fix",
      "doctor --provider gemini",
      "doctor --json",
    ],
  )
    .argument("[names...]", "the servers to check (default: all)")
    .option("--connect", "also connect to the servers")
    .option(
      "--fix",
      "ask about each repair, and make it: delete folders that an interrupted npx left incomplete",
    )
    .option("-y, --yes", "make the repairs without asking")
    .addOption(
      new Option("--provider <name>", "also check every known tool's schema against this model API").choices(
        providers,
      ),
    )
    .action(async (names: string[], options: DoctorOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        if (options.yes && !options.fix) throw new PlugboardError("usage-invalid", "--yes goes with --fix.");
        const whole = await workspace.load({ secrets: true });
        for (const name of names) workspace.require(whole, name);
        const config = onlyServers(whole, names);
        const findings = await examine(workspace, config, options.connect ?? false);
        const isStateBroken = findings.some((finding) => isProblem(finding) && finding.about === "state");
        const broken = await brokenInstalls(workspace, config);
        findings.push(
          ...brokenFindings(options.fix ? await deleteBroken(broken, options, terminal) : broken),
        );
        if (findings.some(isProblem)) terminal.exitCode = 3;
        if (names.length === 0 && !isStateBroken) findings.push(...(await examineVault(workspace)));
        if (names.length === 0) findings.push(...(await warmFindings(workspace)));
        if (options.connect) findings.push(...(await connectAll(workspace, config, options, terminal)));
        const { provided, findings: ofLists } = await examineLists(
          workspace,
          onlyServers(await workspace.load(), names),
          options.provider,
          terminal,
        );
        findings.push(...ofLists);
        const problems = findings.filter(isProblem).length;
        const sorted = worstFirst(findings);
        if (options.json) {
          return terminal.out(json({ healthy: problems === 0, findings: sorted, ...provided }));
        }
        const width = screenWidth(terminal);
        terminal.out(
          printLines(
            sorted.flatMap((finding) => findingLines(ofSameConfig(finding, options.config), width)),
            terminal,
          ),
        );
        const warnings = findings.filter(({ level }) => level === "note").length;
        const rest = warnings === 0 ? "" : `, ${count(warnings, "warning")}`;
        terminal.out(
          sentence(`${problems === 0 ? "No problems" : count(problems, "problem")} found${rest}.`, terminal),
        );
        if (!options.connect && config.servers.size > 0)
          terminal.out(`${hanging(notStarted, 0, terminal)}\n`);
      }),
    );
}

const notStarted = "No server was started. Run `plugboard doctor --connect` to test them.";

/** What the vault stores for nobody, and what in it cannot be read. */
async function examineVault(workspace: Workspace): Promise<Finding[]> {
  try {
    const kept = await workspace.stored.list();
    return [...unreadableFindings(kept), ...unusedFindings(kept)];
  } catch (error) {
    if (!isPlugboardError(error, "store-unavailable")) throw error;
    return [{ level: "note", about: "vault", message: error.message, advice: error.hint }];
  }
}

function isProblem({ level }: Finding): boolean {
  return level === "problem";
}

interface KnownLists {
  findings: Finding[];
  provided?: { tools: ProviderTool[]; offered: number; setAside: number };
}

/** What the lists that the servers last sent say about the configuration. Starts no server. */
async function examineLists(
  workspace: Workspace,
  config: LoadedConfig,
  provider: Provider | undefined,
  terminal: Terminal,
): Promise<KnownLists> {
  if (config.servers.size === 0) return { findings: [] };
  const examined = withHub(terminal, { config, isLooking: true }, workspace, async (hub) => {
    const names = new Map<string, string[]>();
    for (const { server, at } of await hub.listStates("tools")) if (at !== undefined) names.set(server, []);
    const known = await hub.allTools({ wait: false });
    for (const { server, name } of known) names.get(server)?.push(name);
    const mistakes = [...unmatchedPatterns(config, names), ...argumentMistakes(config, known)];
    const findings = [
      ...mistakes.map(fromDiagnostic),
      ...pinFindings(known),
      ...(await hub.flags()).map(flagFinding),
    ];
    if (provider === undefined) return { findings };
    const tools = await checkProvider(hub, provider);
    const aboutProvider = await providerFindings(hub, provider, tools);
    if (aboutProvider.some(isProblem)) terminal.exitCode ||= 3;
    const offered = tools.filter(({ ok }) => ok).length;
    const provided = { tools, offered, setAside: tools.length - offered };
    return { findings: [...findings, ...aboutProvider], provided };
  });
  return examined.catch((error: unknown) => {
    // The state has a finding of its own.
    if (!isPlugboardError(error, "store-unavailable") || provider !== undefined) throw error;
    return { findings: [] };
  });
}

async function connectAll(
  workspace: Workspace,
  config: LoadedConfig,
  { json: isQuiet }: DoctorOptions,
  terminal: Terminal,
): Promise<Finding[]> {
  if (lostRule(config)) {
    const message = "no server was connected, because rules of your configuration are missing";
    return [{ level: "note", about: "configuration", message, advice: "Correct the mistake first." }];
  }
  const { findings, exitCode } = await connectServers(
    workspace,
    config,
    { isQuiet: isQuiet ?? false },
    terminal,
  );
  terminal.exitCode ||= exitCode;
  return findings;
}
