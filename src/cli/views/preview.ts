import { decidesWhatRuns } from "../../config.ts";
import type { Preview, Scripts } from "../../config.ts";
import { joinArgv, shellWord } from "../../lib/argv.ts";
import { formatBytes } from "../../lib/format-bytes.ts";
import { painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { displayWidth, wrapText } from "../terminal/text-width.ts";

const [narrowest, widest] = [9, 16];
const maxLines = 8;
/** How many values of one kind a screen shows; a file or pipe gets all of them. */
const mostValues = 10;
const lastLines = 2;

export interface Section {
  label: string;
  text: string;
  isWarning?: boolean | undefined;
}

export interface PreviewContext {
  scripts?: Scripts | undefined;
  /** Where the entry can be read in full. */
  place: string;
  indent?: string;
}

/** What an entry would run, send and read: what matters most first, with the program or the host on a line of its own. */
export function previewText(preview: Preview, context: PreviewContext, terminal: Terminal): string {
  return sectionText(sections(preview, context, valueLimit(terminal)), context, terminal);
}

export function valueLimit({ isScreen }: Pick<Terminal, "isScreen">): number {
  return isScreen ? mostValues : Infinity;
}

/**
 * Each section on lines of its own. On a screen, a long value is cut and says so, because it would push the rest out of
 * sight, and no line of it begins where a label does.
 */
export function sectionText(
  all: readonly Section[],
  { place, indent = "  " }: Pick<PreviewContext, "place" | "indent">,
  terminal: Terminal,
): string {
  const paint = painter(terminal);
  const labels = all.map(({ label }) => displayWidth(safe(label)));
  const labelWidth = Math.min(widest, Math.max(narrowest, ...labels));
  const margin = indent.length + labelWidth + 1;
  const width = terminal.isScreen ? Math.max(20, terminal.columns - margin - 1) : Infinity;
  const styled = ({ label, text, isWarning }: Section): string => {
    const line = `${safe(label).padEnd(labelWidth)} ${text}`.trimEnd();
    if (isWarning) return paint("yellow", line);
    return `${paint("dim", line.slice(0, labelWidth))}${line.slice(labelWidth)}`;
  };
  const cut: string[] = [];
  const lines = all.flatMap(({ label, text, isWarning }) => {
    const whole = safe(text);
    if (!Number.isFinite(width)) return [styled({ label, text: whole, isWarning })];
    const start = whole.slice(0, width * maxLines);
    const wrapped = wrapText(start, width);
    // Words that do not fill their lines, and wide letters, need more lines than their number of characters says.
    const isCut = start !== whole || wrapped.length > maxLines;
    if (isCut) cut.push(label);
    const shown = isCut ? ends(whole, wrapped, width) : wrapped;
    return shown.map((line, index) => styled({ label: index === 0 ? label : "", text: line, isWarning }));
  });
  for (const label of cut) {
    const text = safe(`${label} is too long to show; read all of it in ${place}`);
    const wrapped = wrapText(text, width);
    for (const [index, line] of wrapped.entries())
      lines.push(styled({ label: index === 0 ? "warning" : "", text: line, isWarning: true }));
  }
  return lines.map((line) => `${indent}${line}\n`).join("");
}

/** The beginning and the end of a long value, because what matters can be at either. */
function ends(whole: string, wrapped: readonly string[], width: number): string[] {
  const first = wrapped.slice(0, maxLines - lastLines);
  const last = wrapText(whole.slice(-width * lastLines), width).slice(-lastLines);
  const left = whole.length - first.join(" ").length - last.join(" ").length;
  return [...first, `… ${Math.max(1, left).toLocaleString("en")} more characters …`, ...last];
}

/** The words that stand for a preview in a question: everything that runs, and where it connects to. */
export function previewTarget({ program, host, commands }: Preview, scripts: Scripts): string {
  const own = host === undefined ? [scripts.program ?? program ?? ""] : [];
  const runs = [...new Set([...own, ...commands.map(({ command: [word = ""] }) => word)])].map(short);
  const others = runs.length > 3 ? [...runs.slice(0, 3), `${runs.length - 3} more`] : runs;
  const list = others.length > 1 ? `${others.slice(0, -1).join(", ")} and ${others.at(-1)}` : others.join("");
  const parts = [
    ...(host === undefined ? [] : [`contact ${short(host)}`]),
    ...(list === "" ? [] : [`run ${list}`]),
  ];
  return parts.join(", and to ");
}

function short(text: string): string {
  const shown = safe(text);
  return displayWidth(shown) > 60 ? `${shown.slice(0, 59)}…` : shown;
}

function sections(preview: Preview, { scripts, place }: PreviewContext, limit: number): Section[] {
  const files = scripts?.files ?? [];
  const { program, args = [], folder, host, url, headers, env, commands, more } = preview;
  const list: [string, string | undefined][] = [
    ["host", host],
    ["url", url],
    ["program", program === undefined ? undefined : shellWord(scripts?.program ?? program)],
    ["args", args.length > 0 ? joinArgv(args) : undefined],
    ...atMost(limit, "script", files.map(scriptWords)),
    ["folder", folder],
    ...atMost(
      limit,
      "also runs",
      commands.map(({ field, command }) => `${joinArgv(command)}  (for ${field})`),
    ),
    ...members("env", env, "=", limit),
    ...members("headers", headers, ": ", limit),
    ...Object.entries(more)
      .filter(([key]) => key !== "type")
      .map(([key, value]): [string, string] => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
  ];
  const uses = [
    ...preview.secrets.map((name) => `your secret ${name}`),
    ...preview.files.map((path) => `the file ${path}`),
    ...preview.variables.map((name) => `your variable ${name}`),
  ];
  const own =
    scripts?.program === undefined ? [] : [`${program} is a program of this project, not the usual one`];
  // What is installed in the project is among the scripts whose content is trusted.
  const isInstalled = (name: string) =>
    scripts?.files.some(({ path }) => path.includes(`node_modules/${name.replace(/(?<=.)@.*$/, "")}/`));
  const unpinned = preview.unpinned
    .filter((name) => !isInstalled(name))
    .map((name) => `${name} is not pinned: its newest version is downloaded, without asking you again`);
  const counts = {
    script: files.length,
    "also runs": commands.length,
    env: Object.keys(env).length,
    headers: Object.keys(headers).length,
  };
  const tooMany = Object.entries(counts).flatMap(([label, values]) =>
    values > limit ? [tooManyWords(label, label === "script" ? "`trust --list --json`" : place)] : [],
  );
  const problem = scripts?.problem === undefined ? [] : [`cannot be trusted: ${scripts.problem}`];
  return [
    ...list.flatMap(([label, text]) => (text === undefined ? [] : [{ label, text }])),
    ...(uses.length > 0 ? [{ label: "gets", text: uses.join(", ") }] : []),
    ...[...tooMany, ...own, ...unpinned, ...preview.warnings, ...problem].map((text) => ({
      label: "warning",
      text,
      isWarning: true,
    })),
  ];
}

/** One of the project's files whose content is trusted too. */
function scriptWords({ path, bytes, linksTo }: Scripts["files"][number]): string {
  return linksTo === undefined ? `${path}  (${formatBytes(bytes)})` : `${path}  (a link to ${linksTo})`;
}

export function tooManyWords(label: string, place: string): string {
  return `${label} has too many values to show; read all of them in ${place}`;
}

export function atMost(limit: number, label: string, texts: readonly string[]): [string, string][] {
  const shown = texts.slice(0, limit).map((text): [string, string] => [label, text]);
  return texts.length > limit ? [...shown, [label, `… and ${texts.length - limit} more`]] : shown;
}

/** One line for each value. Where not all can be shown, those that decide what runs are. */
function members(
  label: string,
  values: Record<string, string>,
  separator: string,
  limit: number,
): [string, string][] {
  const all = Object.entries(values).toSorted(
    ([a], [b]) => Number(decidesWhatRuns(b)) - Number(decidesWhatRuns(a)),
  );
  const shown = all
    .slice(0, limit)
    .map(([name, value]): [string, string] => [label, `${name}${separator}${value}`]);
  return all.length > limit ? [...shown, [label, `… and ${all.length - limit} more`]] : shown;
}
