import { relative } from "node:path";
import type { KnownContent, SettingsReview } from "../../config.ts";
import { printLines } from "../terminal/live-area.ts";
import { fieldLines } from "./definition-changes.ts";
import { atMost, sectionText, tooManyWords, valueLimit } from "./preview.ts";
import type { Section } from "./preview.ts";
import { count, hanging, painter, safe, screenWidth, table } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A project file's settings, one value on each line. */
export function settingsPreview(file: string, settings: Record<string, unknown>, terminal: Terminal): string {
  const paint = painter(terminal);
  const limit = valueLimit(terminal);
  const lists = Object.entries(settings).map(([key, value]) => {
    const all: unknown[] = Array.isArray(value) ? value : [value];
    return [key, all.map((one) => (typeof one === "string" ? one : JSON.stringify(one)))] as const;
  });
  const sections: Section[] = [
    ...lists.flatMap(([key, all]) => atMost(limit, key, all)).map(([label, text]) => ({ label, text })),
    ...lists
      .filter(([, all]) => all.length > limit)
      .map(([key]) => ({ label: "warning", text: tooManyWords(key, file), isWarning: true })),
  ];
  const plugins = settings["plugins"] === undefined ? "" : "  servers of plugins need your trust as well\n";
  const names = Object.keys(settings).map(safe).join(", ");
  const heading = `${paint("bold", safe(file))} sets ${names}\n`;
  return `${heading}${sectionText(sections, { place: file }, terminal)}${plugins}\n`;
}

/** The contents that were trusted; those in use first. */
export function trustedTable(
  contents: readonly KnownContent[],
  allProjects: boolean,
  terminal: Terminal,
): string {
  const sorted = contents.toSorted((one, other) => Number(other.inUse) - Number(one.inUse));
  const rows = sorted.map(({ server, settings = [], file = "", project, scripts, inUse, at }) => [
    server ?? `(settings: ${settings.join(", ")})`,
    inUse ? "in use" : `of ${new Date(at).toISOString().slice(0, 16).replace("T", " ")}`,
    Object.keys(scripts).join(", ") || "–",
    allProjects || project === undefined ? file : relative(project, file),
  ]);
  return table(["TRUSTED", "CONTENT", "SCRIPTS", "FILE"], rows, painter(terminal));
}

/** What was trusted before, and what is different now. */
export function againView({ since, changes }: SettingsReview, terminal: Terminal): string {
  if (since === undefined) return "";
  const width = screenWidth(terminal, 100);
  const most = terminal.isScreen ? mostChanges : Infinity;
  const lines = (changes ?? []).slice(0, most).flatMap((change) => fieldLines(change, width));
  const more = (changes?.length ?? 0) - most;
  const rest = more > 0 ? `      … ${count(more, "more change")}; --list --json shows all\n` : "";
  return warned("again", since, terminal) + printLines(lines, terminal) + rest;
}

const mostChanges = 40;

export function warned(label: string, text: string, terminal: Terminal): string {
  const line = hanging(`${label.padEnd(9)} ${safe(text)}`, 12, terminal);
  return `  ${painter(terminal)("yellow", line)}\n`;
}
