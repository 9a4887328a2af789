import type { Round } from "./rounds.ts";
import type { Visit } from "./visit.ts";

/** What was found of one server; kept in `results.json`. */
export interface Finding {
  name: string;
  package: string;
  version: string;
  remark?: string;
  rounds: Round[];
  visit?: Visit;
}

export function serverTable(findings: readonly Finding[]): string {
  const connected = findings.filter(({ rounds }) => rounds.every(({ failure }) => !failure));
  return table(
    [
      "server",
      "package",
      "era, revision",
      "tools / resources / prompts",
      "first start / later, s",
      "remarks",
    ],
    connected.map(({ name, package: wanted, version, remark = "", rounds, visit }) => [
      name,
      `${wanted} ${version}`,
      unique(rounds.map(({ era, revision }) => `${era} ${revision}`)),
      visit ? `${visit.tools} / ${visit.resources} / ${visit.prompts}` : "–",
      `${seconds(Math.min(...rounds.map(({ startMs }) => startMs ?? Infinity)))} / ${seconds(visit?.warmMs)}`,
      remark,
    ]),
  );
}

export function failureTable(findings: readonly Finding[]): string {
  const failed = findings.filter(({ rounds }) => rounds.some(({ failure }) => failure));
  return table(
    ["server", "package", "what `plugboard status` says"],
    failed.map(({ name, package: wanted, version, rounds }) => [
      name,
      `${wanted} ${version}`,
      unique(rounds.map(({ era, failure }) => (failure ? code(failureWords(failure)) : `connected, ${era}`))),
    ]),
  );
}

/** Where its logs are is said of every server that printed something. */
function failureWords({ message, hint }: NonNullable<Round["failure"]>): string {
  return hint.startsWith("Run `plugboard logs ") ? message : `${message} ${hint}`;
}

export function callTable(findings: readonly Finding[]): string {
  const calls = findings.flatMap(({ visit }) => (visit?.call ? [visit.call] : []));
  const rows = calls.map(({ line, exitCode, answer }) => {
    const outcome = exitCode === 0 ? "ok" : `exit code ${exitCode}`;
    return [code(line), outcome, code(answer)];
  });
  const good = calls.filter(({ exitCode }) => exitCode === 0).length;
  const sum = `${good} of ${calls.length} calls succeeded.`;
  return `${sum}\n\n${table(["command line", "outcome", "start of the result"], rows)}`;
}

function table(head: readonly string[], rows: readonly string[][]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Formats text as code in a table cell. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}

/** One value if all rounds agree, otherwise each. */
function unique(values: readonly string[]): string {
  return [...new Set(values)].join("<br>");
}

function seconds(ms = Infinity): string {
  return ms === Infinity ? "–" : (ms / 1000).toFixed(1);
}

/** Replaces what stands between two marks. */
export function withSection(page: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before = "", rest = ""] = page.split(start);
  return `${before}${start}\n${content}\n${end}${rest.split(end)[1] ?? ""}`;
}
