import type { PinnedPackage } from "../../config.ts";
import type { DefinitionFlag, PinChange, PinReport } from "../../host.ts";
import type { Line } from "../terminal/live-area.ts";
import type { Style } from "../terminal/print.ts";
import { count, safe } from "../terminal/print.ts";
import { wrapText } from "../terminal/text-width.ts";
import { changeLines, shownName } from "./definition-changes.ts";

/** More lines than this are approved in several steps: what has left the screen is not read any more. */
const enoughLines = 500;

type Surface = NonNullable<PinReport["surface"]>;

const states: Record<PinReport["state"], [string, Style]> = {
  same: ["as pinned", "green"],
  changed: ["changed", "yellow"],
  unpinned: ["not pinned yet", "yellow"],
  unreadable: ["its lock cannot be used", "red"],
  failed: ["cannot be checked", "red"],
};

/** How one server compares with its lock file, with a readable diff that leaves out nothing. */
export function pinReportLines(report: PinReport, width: number): Line[] {
  const steps = pinSteps(report, width);
  return [...pinHeading(report, width), ...steps.flatMap(({ lines }) => lines)];
}

/** What is said about a server before its changes. */
export function pinHeading(
  { server, state, because, error, surface, changes }: PinReport,
  width: number,
): Line[] {
  const [words, style] = states[state];
  const isNew = state === "unpinned" || state === "unreadable";
  // The package is pinned with everything else, also where only something else changed.
  const isPackagePinned = state !== "same" && !changes.some(({ kind }) => kind === "package");
  return [
    [{ text: safe(server), style: "bold" }, { text: "  " }, { text: words, style }],
    ...indented(because ?? error?.message, width),
    ...(isNew && surface ? indented(contents(surface), width) : []),
    ...(surface?.package && (isPackagePinned || surface.package.note !== undefined)
      ? indented(packageWords(surface.package), width)
      : []),
  ];
}

/** Changes that are read, and approved, together. */
export interface PinStep {
  changes: PinChange[];
  lines: Line[];
}

/** All changes, in steps that can be read, each with what is suspicious in it. There is at least one step. */
export function pinSteps({ changes, flags }: PinReport, width: number): PinStep[] {
  const left = Map.groupBy(flags, ({ kind, name }) => subject(kind, name));
  const steps: PinStep[] = [{ changes: [], lines: [] }];
  for (const change of changes) {
    const { kind, name } = change;
    const key = subject(kind in flagKinds ? flagKinds[kind as keyof typeof flagKinds] : kind, name);
    const own = left.get(key) ?? [];
    left.delete(key);
    const lines = [...changeLines(change, width, { isWhole: true }), ...flagLines(own, width)];
    let step = steps.at(-1);
    if (!step || (step.lines.length > 0 && step.lines.length + lines.length > enoughLines))
      steps.push((step = { changes: [], lines: [] }));
    step.changes.push(change);
    for (const line of lines) step.lines.push(line);
  }
  // What is suspicious in definitions that are as pinned.
  for (const line of flagLines([...left.values()].flat(), width)) steps.at(-1)?.lines.push(line);
  return steps;
}

const flagKinds = { tools: "tool", prompts: "prompt", resourceTemplates: "resource template" } as const;

/** What a change or a flag is about, as one text. */
function subject(kind: string, name: string): string {
  return kind === "instructions" ? kind : `${kind} ${name}`;
}

/** What is suspicious, as advice. */
export function flagLines(flags: readonly DefinitionFlag[], width: number): Line[] {
  return flags.flatMap((flag): Line[] => {
    const [first = "", ...rest] = wrapText(safe(flagWords(flag)), Math.max(20, width - 4));
    return [
      [{ text: "  ! ", style: "yellow" }, { text: first }],
      ...rest.map((text): Line => [{ text: `    ${text}` }]),
    ];
  });
}

export function flagWords({ kind, name, path, message }: DefinitionFlag): string {
  const what = [kind, shownName(name)].filter((part) => part !== "").join(" ");
  return `${what}${path === "" ? "" : `, ${shownName(path)}`}: ${message}`;
}

/** The report without the definitions that are the same. */
export function pinReportJson({ surface, error, ...report }: PinReport): Record<string, unknown> {
  return {
    ...report,
    ...(surface?.package && { package: surface.package }),
    ...(error && { error: error.toJSON() }),
  };
}

function contents({ tools, prompts, resourceTemplates, instructions }: Surface): string {
  return [
    count(tools.size, "tool"),
    ...(prompts.size > 0 ? [count(prompts.size, "prompt")] : []),
    ...(resourceTemplates.size > 0 ? [count(resourceTemplates.size, "resource template")] : []),
    ...(instructions ? ["instructions"] : []),
  ].join(", ");
}

function packageWords({ manager, name, version, integrity, note }: PinnedPackage): string {
  const known = `${manager} package ${name}, version ${version}, integrity ${integrity}`;
  return note === undefined ? known : `${known}: ${note}`;
}

function indented(text: string | undefined, width: number): Line[] {
  if (text === undefined) return [];
  return wrapText(safe(text), Math.max(20, width - 2)).map((line): Line => [{ text: `  ${line}` }]);
}
