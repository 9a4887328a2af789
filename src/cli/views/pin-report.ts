import type { DefinitionFlag, PinReport, PinnedPackage } from "../../index.ts";
import type { Line } from "../terminal/live-area.ts";
import type { Style } from "../terminal/print.ts";
import { count, safe } from "../terminal/print.ts";
import { wrapText } from "../terminal/text-width.ts";
import { changeLines, shownName } from "./definition-changes.ts";

const mostChanges = 100;

const states: Record<PinReport["state"], [string, Style]> = {
  same: ["as pinned", "green"],
  changed: ["changed", "yellow"],
  unpinned: ["not pinned yet", "yellow"],
  unreadable: ["its lock cannot be used", "red"],
  failed: ["cannot be checked", "red"],
};

/** How one server compares with its lock file, with a readable diff. */
export function pinReportLines(report: PinReport, width: number): Line[] {
  const { server, state, because, error, changes, surface, flags } = report;
  const [words, style] = states[state];
  const isNew = state === "unpinned" || state === "unreadable";
  const shown = isNew ? [] : changes.slice(0, mostChanges);
  const more = isNew ? 0 : changes.length - shown.length;
  return [
    [{ text: safe(server), style: "bold" }, { text: "  " }, { text: words, style }],
    ...indented(because ?? error?.message, width),
    ...(isNew && surface ? indented(contents(report), width) : []),
    ...(surface?.package && (isNew || surface.package.note !== undefined)
      ? indented(packageWords(surface.package), width)
      : []),
    ...shown.flatMap((change) => changeLines(change, width)),
    ...(more > 0
      ? [[{ text: `  … ${count(more, "more change")}; --json shows all`, style: "dim" as const }]]
      : []),
    ...flagLines(flags, width),
  ];
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

function contents({ surface }: PinReport): string {
  if (!surface) return "";
  const { tools, prompts, resourceTemplates, instructions } = surface;
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
