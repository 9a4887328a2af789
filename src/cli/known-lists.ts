import type { LastFailure } from "../config.ts";
import type { ListState } from "../host.ts";
import type { Hub, View } from "../index.ts";
import { leftOutFinding, leftOutLines, leftOutNote, recentFailures } from "./left-out.ts";
import { ageWords } from "./views/age.ts";
import { findingLines, ofSameConfig } from "./views/finding.ts";
import type { Finding } from "./views/finding.ts";
import { printLines } from "./terminal/live-area.ts";
import { painter, safe } from "./terminal/print.ts";
import { withSameConfig } from "./terminal/same-config.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { showStarts, yieldingSpinner } from "./terminal/waiting.ts";
import { someOf } from "./views/some-of.ts";

type Kind = NonNullable<Parameters<View["listStates"]>[0]>;

export interface ListUse {
  kinds: readonly Kind[];
  /** Only this server. */
  server?: string | undefined;
  /** Also ask servers whose lists are remembered. */
  refresh?: boolean | undefined;
  /** Why servers failed in earlier commands: those that did so recently are left out. */
  failures?: ReadonlyMap<string, LastFailure> | undefined;
}

export interface ListOutcome {
  states: ListState[];
  /** Servers that returned no list, or not all of it, and why. */
  failures: Finding[];
  /** Servers that were not asked because they failed a short while ago. */
  leftOut: Finding[];
  /** True if the list covers all servers, so unusable ones are mentioned. */
  isWhole: boolean;
}

/**
 * Loads the lists. Remembered lists are used as they are; only servers without one are asked. If any are asked, prints
 * what `onListed` makes of those with remembered lists at once, and then of each of the others when its list is there.
 */
export async function prepareLists(
  hub: Hub,
  use: ListUse,
  terminal: Terminal,
  onListed?: OnListed,
): Promise<ListOutcome> {
  const { kinds, server, refresh = false, failures: known = new Map<string, LastFailure>() } = use;
  const view = server === undefined ? hub : hub.view({ servers: [server] });
  const statesOf = async (of: View) => (await Promise.all(kinds.map((kind) => of.listStates(kind)))).flat();
  const before = await statesOf(view);
  const now = Date.now();
  const recent = refresh ? new Map<string, LastFailure>() : recentFailures(known, kinds, now);
  const unread = new Set(before.filter(({ at }) => refresh || at === undefined).map((state) => state.server));
  const leftOut = [...recent].filter(([name]) => unread.has(name));
  const asked = new Set([...unread].filter((name) => !recent.has(name)));
  const remembered = new Set(before.map((state) => state.server).filter((name) => !unread.has(name)));
  const left = new Set(asked);
  const { waiting, onAsking, spinWhile } = yieldingSpinner(askingWords(left));
  showStarts(hub, waiting);
  const show = async (names: readonly string[], isLate: boolean) => {
    const text = await onListed?.(hub.view({ servers: [...names] }), isLate);
    onAsking(true);
    terminal.out(text ?? "");
    onAsking(false);
  };
  const ask = async (name: string) => {
    const own = view.view({ servers: [name] });
    if (refresh) await hub.refresh(name).catch(() => undefined);
    else await Promise.all(kinds.map((kind) => readers[kind](own)));
    left.delete(name);
    waiting.words = askingWords(left);
    if ((await statesOf(own)).some(({ at }) => at !== undefined)) await show([name], true);
  };
  if (asked.size > 0)
    await spinWhile(terminal, async () => {
      if (remembered.size > 0) await show([...remembered], false);
      await Promise.all([...asked].map(ask));
    });
  const states = await statesOf(view);
  const isFailed = ({ at, isSnapshot }: ListState) => at === undefined || (refresh && isSnapshot);
  const failed = new Set(states.filter(isFailed).map((state) => state.server));
  for (const [name] of leftOut) failed.delete(name);
  const failures = [...(await failuresOf(hub, [...failed])), ...states.flatMap(cutOf)];
  const findings = leftOut.map(([name, failure]) => leftOutFinding(name, failure, now));
  return { states, failures, leftOut: findings, isWhole: server === undefined };
}

/** The lists of a view as text; `isLate` if its server had to be asked while others were remembered. */
export type OnListed = (view: View, isLate: boolean) => Promise<string>;

function askingWords(names: ReadonlySet<string>): string {
  return `asking ${[...names].join(", ")}`;
}

/** What was left out of a list is said: a tool that is missing should not look as if it did not exist. */
function cutOf({ server, cut }: ListState): Finding[] {
  return cut ? [{ level: "note", about: server, message: cut.message }] : [];
}

/** Why servers returned no list; a problem with the server itself comes first. */
async function failuresOf(hub: Hub, names: readonly string[]): Promise<Finding[]> {
  if (names.length === 0) return [];
  const { problemOf } = await import("./views/connection-findings.ts");
  const { transportOf } = await import("./views/server.ts");
  const reports = new Map(hub.status().map((report) => [report.name, report]));
  return names.map((name) => {
    const report = reports.get(name);
    const entry = hub.config.servers.get(name);
    const problem = report && entry && problemOf({ ...report, via: transportOf(entry) }, entry);
    return problem ?? { level: "problem", about: name, message: "did not return its list" };
  });
}

const readers: Record<Kind, (view: View) => Promise<unknown>> = {
  tools: (view) => view.allTools(),
  resources: (view) => view.resources(),
  resourceTemplates: (view) => view.resourceTemplates(),
  prompts: (view) => view.prompts(),
};

/** Prints to standard error how old the lists are, which servers failed and which cannot be used. */
export function reportLists(
  hub: Hub,
  { states, failures, leftOut, isWhole }: ListOutcome,
  terminal: Terminal,
  config?: string,
): void {
  const width = terminal.isErrLive ? terminal.columns - 1 : Infinity;
  const lines = [
    ...failures.flatMap((finding) => findingLines(ofSameConfig(finding, config), width)),
    ...leftOut.flatMap((finding) => leftOutLines(ofSameConfig(finding, config), width)),
  ];
  if (lines.length > 0 && terminal.isErrLive) terminal.err("\n");
  terminal.err(printLines(lines, terminal, "err"));
  const remembered = states.filter(({ isSnapshot, at }) => isSnapshot && at !== undefined);
  const oldest = Math.min(...remembered.map(({ at = 0 }) => at));
  const off = hub
    .status()
    .filter(({ state, disabledReason }) => state === "disabled" && disabledReason !== "off");
  const notes = [
    ...(leftOut.length > 0 ? [leftOutNote] : []),
    ...(remembered.length > 0
      ? [`List saved ${ageWords(Date.now() - oldest)}. Use --refresh to ask the servers again.`]
      : []),
    ...(isWhole && off.length > 0
      ? [`Not used: ${someOf(off.map(({ name }) => safe(name)))}. Run \`plugboard status\` to see why.`]
      : []),
  ];
  const paint = painter(terminal, "err");
  for (const note of notes) terminal.err(`${paint("dim", withSameConfig(note, config))}\n`);
}
