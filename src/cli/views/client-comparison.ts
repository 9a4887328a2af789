import { shownEntry } from "../../config.ts";
import type { ClientComparison, ComparedServer } from "../../config.ts";
import { joinArgv, shellWord } from "../../lib/argv.ts";
import { painter, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";

export type ShownConfig = NonNullable<ComparedServer["theirs"]>;
type Config = ShownConfig;

/** How one client's file differs from our servers, and what would be written, with secrets hidden. */
export function comparisonView(comparison: ClientComparison, terminal: Terminal): string {
  const { format, file, exists, problem, compared, unusable } = comparison;
  const paint = painter(terminal);
  const where = exists ? file : `${file} (will be created)`;
  const lines = [`${paint("bold", format.title)}  ${paint("dim", safe(where))}`];
  if (problem !== undefined) lines.push(`  ${paint("red", "unreadable")}  ${safe(problem)}`);
  for (const server of compared.servers)
    lines.push(...serverLines(server, terminal), ...otherLines(server, comparison, terminal));
  for (const name of unusable) {
    const hint = `plugboard explain ${shellWord(name)}`;
    lines.push(`  ${paint("yellow", "left    ")}  ${safe(name)}  it cannot be used here (${safe(hint)})`);
  }
  for (const { name, isEnabled } of compared.onlyThere) {
    const state = isEnabled ? "" : ", switched off";
    lines.push(
      `  ${paint("dim", "only there")}  ${safe(name)}${state}  ${paint("dim", `(plugboard import ${shellWord(format.id)})`)}`,
    );
  }
  if (lines.length === 1) lines.push("  no servers");
  return `${lines.join("\n")}\n`;
}

function serverLines(
  { name, nameThere, state, fields, reason, theirs, after, notes }: ComparedServer,
  terminal: Terminal,
) {
  const paint = painter(terminal);
  const words = {
    same: paint("dim", "same    "),
    missing: paint("green", "missing "),
    different: paint("yellow", "differs "),
    other: paint("yellow", "other   "),
    off: paint("dim", "off     "),
    left: paint("yellow", "left    "),
  };
  const remark: Partial<Record<typeof state, string>> = {
    off: "switched off there; left alone",
    left: reason ?? "",
    other: "another server has this name there; left alone",
  };
  const alias = nameThere === undefined ? "" : ` (${nameThere} there)`;
  const lines = [
    `  ${words[state]}  ${safe(`${name}${alias}`)}  ${safe(remark[state] ?? fields.join(", "))}`.trimEnd(),
  ];
  const isWritten = state === "missing" || state === "different";
  if (isWritten && after) lines.push(...fieldLines(theirs, after).map((line) => paintLine(line, terminal)));
  if (isWritten || state === "left") {
    for (const note of notes.filter(({ kind }) => kind !== "translated"))
      lines.push(`        ${paint("yellow", note.kind)}  ${safe(note.field)}: ${safe(note.message)}`);
  }
  return lines;
}

/** Two servers that only share a name, and how one gets the place of the other. */
function otherLines(
  { name, state, theirs, after }: ComparedServer,
  { format, scope }: ClientComparison,
  terminal: Terminal,
): string[] {
  if (state !== "other") return [];
  const paint = painter(terminal);
  const target = (config: Config | undefined) => {
    const fields = Object.entries(shown(config)).filter(([field]) => /^(command|args|url)$/.test(field));
    return safe(fields.map(([field, value]) => `${field} ${JSON.stringify(value)}`).join("  "));
  };
  const words = ["plugboard", "export", format.id, "--write", "--server", name];
  const replace = joinArgv(scope === "user" ? words : [...words, "--scope", scope]);
  return [
    `        there  ${target(theirs)}`,
    `        here   ${target(after)}`,
    `        ${paint("dim", safe(`\`${replace}\` would replace it.`))}`,
  ];
}

/** `- args ["old"]` and `+ args ["new"]`; a hidden value that changes is shown as changed. */
export function fieldLines(before: Config | undefined, after: Config | undefined): string[] {
  const old = shown(before);
  const next = shown(after);
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].flatMap((field) => {
    const key = field as keyof Config;
    if (before && after && JSON.stringify(before[key]) === JSON.stringify(after[key])) return [];
    return [
      ...(field in old ? [`- ${field} ${JSON.stringify(old[field])}`] : []),
      ...(field in next ? [`+ ${field} ${JSON.stringify(next[field])}`] : []),
    ];
  });
}

function shown(config: Config | undefined): Record<string, unknown> {
  return config ? (shownEntry({ written: config }) as Record<string, unknown>) : {};
}

function paintLine(line: string, terminal: Terminal): string {
  return `        ${painter(terminal)(line.startsWith("-") ? "red" : "green", safe(line))}`;
}

/** The comparison as JSON, with secrets hidden. */
export function comparisonJson({
  format,
  file,
  scope,
  exists,
  problem,
  compared,
  unusable,
}: ClientComparison) {
  return {
    client: format.id,
    scope,
    file,
    exists,
    problem,
    servers: compared.servers.map(({ theirs, after, ...server }) => ({
      ...server,
      ...(theirs && { theirs: shown(theirs) }),
      ...(after && { after: shown(after) }),
    })),
    onlyThere: compared.onlyThere,
    unusable,
  };
}
