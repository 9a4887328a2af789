import type { Command } from "commander";
import { toolId } from "../../host.ts";
import { PlugboardError } from "../../index.ts";
import type { PinApproval, ServerPins } from "../../config.ts";
import type { PinChange, PinReport } from "../../host.ts";
import type { LoadedConfig } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { nearest } from "../../lib/suggest.ts";
import { printLines } from "../terminal/live-area.ts";
import type { Line } from "../terminal/live-area.ts";
import { count, json, safe, screenWidth, sentence } from "../terminal/print.ts";
import { orCancelled } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { spinWhile } from "../terminal/waiting.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { isOpen, pinDigest } from "../views/pin-digest.ts";
import { pinHeading, pinReportJson, pinSteps } from "../views/pin-report.ts";
import type { PinStep } from "../views/pin-report.ts";
import { onlyServers, withHub } from "../with-hub.ts";

interface LockOptions extends CommonOptions {
  yes?: boolean;
  expect?: string;
}

/** A question that follows so many lines says so. */
const manyLines = 30;

/** What was asked for: a server, or only some of its definitions. */
type Wanted = Map<string, Set<string> | undefined>;

export function command(terminal: Terminal): Command {
  return verb(
    "lock",
    "Pin what servers offer in plugboard.lock: every tool, prompt, resource template and their instructions exactly as sent, and the packages behind npx and uvx. Shows all that is new, changed or missing, and asks before it is approved. From then on, whatever is not pinned is set aside.",
    [
      "lock",
      "lock issues",
      "lock issues.search files.read_file",
      "lock --yes",
      `lock issues --expect sha256-${"0".repeat(64)}`,
    ],
  )
    .argument("[names...]", "servers, or single tools and prompts (default: all servers)")
    .option("-y, --yes", "approve everything that is shown, without asking")
    .option("--expect <digest>", "approve without asking, but only what `verify` showed with this digest")
    .action(async (names: string[], options: LockOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        const wanted = wantedOf(names, config);
        if (options.expect !== undefined && [...wanted.values()].some((single) => single !== undefined))
          throw new PlugboardError(
            "usage-invalid",
            "--expect approves whole servers: that is what `verify` shows.",
            {
              hint: "Name the servers only.",
            },
          );
        if (options.yes && options.expect !== undefined)
          throw new PlugboardError("usage-invalid", "Use only one of --yes and --expect.");
        const isAsked = !options.yes && options.expect === undefined;
        if (isAsked && (options.json || !terminal.isInteractive)) throw cannotAsk([...wanted.keys()]);
        for (const name of wanted.keys()) assertWritable(config.pins?.get(name));
        const use = { config: onlyServers(config, []), tolerant: true, isFresh: true };
        const reports = await withHub(terminal, use, workspace, (hub, signal) =>
          spinWhile(
            terminal,
            () => ({ words: `Asking ${count(wanted.size, "server")}` }),
            () => hub.checkPins([...wanted.keys()], { signal }),
          ),
        );
        const narrowed = reports.map((report) => narrow(report, wanted.get(report.server), config));
        const stray = names.length > 0 ? [] : await workspace.strayPins(config);
        const digest = pinDigest(narrowed, stray);
        if (options.expect !== undefined && options.expect !== digest)
          throw notExpected(
            digest,
            narrowed.filter(isOpen).map(({ server }) => server),
          );
        const approvals = await approve(narrowed, wanted, stray, options, terminal);
        const files = await workspace.writePins(config, approvals);
        const failed = reports.find(({ error }) => error)?.error;
        if (failed) terminal.exitCode = failed.exitCode;
        const written = new Set(approvals.map(({ server }) => server));
        const shown = narrowed.map((one) => ({ ...pinReportJson(one), written: written.has(one.server) }));
        const removed = approvals.flatMap(({ server, file, surface }) => (surface ? [] : [{ server, file }]));
        if (options.json) return terminal.out(json({ files, digest, servers: shown, removed }));
        if (written.size > 0)
          terminal.out(sentence(`Pinned ${[...written].map(safe).join(", ")}.`, terminal));
        for (const file of files) terminal.out(`Wrote ${safe(file)}\n`);
        if (files.length === 0) terminal.out("Nothing was written.\n");
      }),
    );
}

function cannotAsk(servers: readonly string[]): PlugboardError {
  return new PlugboardError("usage-invalid", "Cannot ask for approval without a terminal.", {
    hint: `Review the differences with \`${joinArgv(["plugboard", "verify", ...servers])}\`, then pass --expect with the digest that it shows.`,
  });
}

function notExpected(digest: string | undefined, servers: readonly string[]): PlugboardError {
  const review = joinArgv(["plugboard", "verify", ...servers]);
  const message =
    digest === undefined
      ? "There is nothing to approve: everything is as pinned, or cannot be checked."
      : "What would be approved is not what was reviewed. Nothing was written.";
  return new PlugboardError("lock-mismatch", message, {
    hint: `Review it with \`${review}\`, which shows the digest.`,
  });
}

/** Before anybody is asked anything. */
function assertWritable(pins: ServerPins | undefined): void {
  if (!pins?.isFileBroken) return;
  const { file, broken } = pins;
  throw new PlugboardError("lock-unreadable", `${file} ${broken}.`, { data: { file } });
}

function wantedOf(names: readonly string[], { servers, lockFiles }: LoadedConfig): Wanted {
  if (names.length === 0) {
    const ready = [...servers.values()].filter(({ status }) => status.kind === "ready");
    if (ready.length === 0)
      throw new PlugboardError("server-unknown", "There is no usable server to lock.", {
        hint: "`plugboard list` shows the servers and why they cannot be used.",
      });
    return new Map(ready.map(({ name }) => [name, undefined]));
  }
  const wanted: Wanted = new Map();
  for (const query of names) {
    if (lockFiles?.has(query)) {
      wanted.set(query, undefined);
      continue;
    }
    const starts = (name: string) => [`${name}.`, `${name}/`, `${name}__`, `mcp__${name}__`];
    const [server] = [...servers.keys()]
      .filter((name) => starts(name).some((start) => query.startsWith(start)))
      .sort((a, b) => b.length - a.length);
    if (server === undefined) {
      const near = nearest(query, servers.keys());
      throw new PlugboardError("server-unknown", `Unknown server or tool: ${query}`, {
        hint: near === undefined ? "`plugboard list` shows the servers." : `Did you mean "${near}"?`,
      });
    }
    const known = wanted.get(server);
    if (known || !wanted.has(server)) wanted.set(server, new Set([...(known ?? []), query]));
  }
  return wanted;
}

/** Only the changes that were asked for. */
function narrow(
  report: PinReport,
  queries: ReadonlySet<string> | undefined,
  { settings }: LoadedConfig,
): PinReport {
  if (!queries || report.error) return report;
  const { server, surface } = report;
  const { style = "mcp", maxLength = 64 } = settings.naming ?? {};
  const words = ({ name }: Pick<PinChange, "name">) => [
    `${server}.${name}`,
    `${server}/${name}`,
    toolId(server, name, { style, maxLength }),
  ];
  const known = [...(surface?.tools.keys() ?? []), ...(surface?.prompts.keys() ?? [])];
  const all = [...known, ...report.changes.map(({ name }) => name)].flatMap((name) => words({ name }));
  for (const query of queries) {
    if (all.includes(query)) continue;
    const near = nearest(query, all.slice(0, 1_000));
    throw new PlugboardError("tool-unknown", `"${server}" has no tool or prompt ${query}.`, {
      server,
      ...(near !== undefined && { hint: `Did you mean ${near}?` }),
    });
  }
  const isMeant = (one: { name: string }) => words(one).some((word) => queries.has(word));
  const changes = report.changes.filter(isMeant);
  const state = changes.length === 0 ? "same" : "changed";
  return { ...report, state, changes, flags: report.flags.filter(isMeant) };
}

async function approve(
  reports: readonly PinReport[],
  wanted: Wanted,
  stray: readonly { server: string; file: string }[],
  { yes, expect, json: isQuiet }: LockOptions,
  terminal: Terminal,
): Promise<PinApproval[]> {
  const approvals: PinApproval[] = [];
  const show = (lines: readonly Line[]) => {
    if (!isQuiet) terminal.out(printLines(lines, terminal));
  };
  const isApproved = async (question: string) =>
    yes || expect !== undefined || (await orCancelled(terminal.confirm(question)));
  const width = screenWidth(terminal, 100);
  for (const report of reports) {
    const { server, file, changes, surface } = report;
    show(pinHeading(report, width));
    const approved: PinChange[] = [];
    const steps = pinSteps(report, width);
    let isAll = true;
    for (const [index, step] of steps.entries()) {
      show(step.lines);
      if (!isOpen(report)) continue;
      isAll = await isApproved(stepQuestion(report, step, approved.length));
      // What comes after it is not shown, and so not approved.
      if (!isAll) {
        if (index < steps.length - 1) show([[{ text: "  The rest is not shown, and not approved." }]]);
        break;
      }
      for (const change of step.changes) approved.push(change);
    }
    if (!isAll) terminal.exitCode = 1;
    if (!isOpen(report) || file === undefined || (!isAll && approved.length === 0)) continue;
    const isPart = !isAll || wanted.get(server) !== undefined || approved.length < changes.length;
    const only = isPart ? approved.map(({ kind, name }) => ({ kind, name })) : undefined;
    approvals.push({ server, file, surface, only });
  }
  for (const { server, file } of stray) {
    if (!isQuiet)
      terminal.out(`${safe(server)}  pinned in ${safe(file)}, but not configured there any more\n`);
    if (await isApproved(`Remove the pins of ${safe(server)}?`)) approvals.push({ server, file });
  }
  return approvals;
}

/** Says how much stands above it, because a screen may not show all of that at once. */
function stepQuestion(
  { server, state, changes, surface }: PinReport,
  { changes: shown, lines }: PinStep,
  before: number,
): string {
  const size = lines.length > manyLines ? ` (${lines.length} lines above)` : "";
  if (shown.length < changes.length)
    return `Approve ${before + 1} to ${before + shown.length} of ${count(changes.length, "change")} of ${safe(server)}?${size}`;
  if (state === "changed") return `Approve ${count(changes.length, "change")} of ${safe(server)}?${size}`;
  return `Pin ${count(surface?.tools.size ?? 0, "tool")} of ${safe(server)} as they are now?${size}`;
}
