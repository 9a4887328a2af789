import type { ClientComparison } from "../../config.ts";
import type { CheckedClient } from "../client/check.ts";
import type { FoundClient } from "../client/found.ts";
import { fieldLines, type ShownConfig } from "./client-comparison.ts";
import { hanging, painter, safe, screenWidth, table } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { displayWidth } from "../terminal/text-width.ts";

type Note = ClientComparison["compared"]["servers"][number]["notes"][number];

/** What would be written into a client's file, and why something is not. */
export function additionView(comparison: ClientComparison, terminal: Terminal): string {
  const { format, file, exists, problem, compared } = comparison;
  const paint = painter(terminal);
  const lines = [head(format.title, exists ? file : `${file} (will be created)`, terminal)];
  if (problem !== undefined)
    lines.push(`  ${paint("red", "unreadable")}  ${hanging(safe(problem), 14, terminal)}`);
  for (const { name, state, theirs, after, reason, notes } of compared.servers) {
    const words: Record<typeof state, string> = {
      missing: paint("green", "add   "),
      different: paint("yellow", "change"),
      same: paint("dim", "have  "),
      off: paint("yellow", "off   "),
      other: paint("yellow", "keep  "),
      left: paint("yellow", "keep  "),
    };
    const remarks: Partial<Record<typeof state, string>> = {
      same: "already there",
      off: `switched off in ${format.title}; left alone`,
      other: "another server has this name there; left alone",
      left: reason ?? "",
    };
    lines.push(
      `  ${words[state]}  ${hanging(safe(`${name}  ${remarks[state] ?? ""}`), 10, terminal)}`.trimEnd(),
    );
    if (state !== "missing" && state !== "different") continue;
    if (after) lines.push(...changed(theirs, after, terminal));
    for (const note of notes.filter(({ kind }) => kind !== "translated"))
      lines.push(noteLine(note, terminal));
  }
  return `${lines.join("\n")}\n`;
}

function noteLine({ kind, field, message }: Note, terminal: Terminal): string {
  const indent = 8 + kind.length + 2;
  const words = hanging(safe(`${field}: ${message}`), indent, terminal);
  return `        ${painter(terminal)("yellow", kind)}  ${words}`;
}

/** What would be taken out of a client's file. */
export function removalView(
  { format, file, servers }: FoundClient,
  names: readonly string[],
  terminal: Terminal,
): string {
  const paint = painter(terminal);
  const gone = servers.filter(({ name }) => names.includes(name));
  const blocks = gone.flatMap(({ name, config }) => [
    `  ${paint("red", "remove")}  ${safe(name)}`,
    ...changed(config, undefined, terminal),
  ]);
  return `${[head(format.title, file, terminal), ...blocks].join("\n")}\n`;
}

function changed(
  before: ShownConfig | undefined,
  after: ShownConfig | undefined,
  terminal: Terminal,
): string[] {
  const paint = painter(terminal);
  return fieldLines(before, after).map((line) => {
    const style = line.startsWith("-") ? "red" : "green";
    return `        ${paint(style, hanging(safe(line), 10, terminal))}`;
  });
}

/** The file is on a line of its own where both do not fit on one. */
function head(title: string, file: string, terminal: Terminal): string {
  const paint = painter(terminal);
  const fits = displayWidth(`${title}  ${safe(file)}`) <= screenWidth(terminal);
  const shown = paint("dim", hanging(safe(file), 2, terminal));
  return `${paint("bold", title)}${fits ? "  " : "\n  "}${shown}`;
}

/** The clients on this machine, one per line. */
export function clientsView(clients: readonly FoundClient[], terminal: Terminal): string {
  const paint = painter(terminal);
  const rows = clients.map((client) => [client.format.id, stateWords(client), client.file]);
  const styles = { wired: "green", "not wired": "dim", unreadable: "red", servers: undefined } as const;
  return table(["CLIENT", "GATEWAY", "FILE"], rows, paint, (row, column) => {
    const { state } = clients[row] ?? { state: "servers" };
    if (column === 2) return "dim";
    return column === 0 ? "bold" : state === "off" || state === "other" ? "yellow" : styles[state];
  });
}

function stateWords({ state, scope, gateway, entries, problem, exists }: FoundClient): string {
  const where = scope === "project" ? " (project)" : "";
  switch (state) {
    case "wired":
      return `wired${where}, ${gateway?.command === undefined ? "over HTTP" : "over stdio"}`;
    case "off":
      return `wired${where}, switched off`;
    case "servers":
      return `not wired${where}, has ${entries.join(", ")}`;
    case "other":
      return `another server is called plugboard${where}`;
    case "unreadable":
      return `unreadable${where}: ${problem ?? ""}`;
    case "not wired":
      return exists ? `not wired${where}` : "not wired, no file yet";
  }
}

export function checkView({ client, problems, notes, health }: CheckedClient, terminal: Terminal): string {
  const paint = painter(terminal);
  const ok = health?.state === "connected" ? "wired, connected" : "wired";
  const word = problems.length === 0 ? paint("green", ok) : paint("red", "problem");
  const own = problems.length === 0 && health ? [`${health.command.join(" ")}: ${health.message}`] : [];
  return [
    head(client.format.title, client.file, terminal),
    `  ${word}`,
    ...[...problems, ...own, ...notes].map((line) => `    ${hanging(safe(line), 4, terminal)}`),
    "",
  ].join("\n");
}

export function checkJson({ client, problems, notes, health }: CheckedClient) {
  const { format, scope, file, state } = client;
  return { client: format.id, scope, file, state, problems, notes, health };
}
