import type { CompatClient } from "./clients/client.ts";
import type { TransportName, VisitResult } from "./visit.ts";

/** What `docs/clients.md` says about one client; kept in `results.json`. */
export interface ClientRow {
  id: string;
  title: string;
  version: string;
  note?: string | undefined;
  visits: VisitRow[];
}

interface VisitRow {
  transport: TransportName;
  configured?: string | undefined;
  revision?: string | undefined;
  capabilities: string[];
  methods: string[];
  listed: "its own listing" | "the run" | "nothing";
  /** What the model saw; absent for clients without one. */
  model?:
    | {
        name?: string | undefined;
        searched: boolean;
        instructions: boolean;
        question: string;
      }
    | undefined;
  works: boolean;
  failure?: string | undefined;
}

export function clientRow(client: CompatClient, version: string, results: readonly VisitResult[]): ClientRow {
  const { id, title, note, hasModel } = client;
  return { id, title, version, note, visits: results.map((result) => visitRow(result, hasModel)) };
}

function visitRow(result: VisitResult, hasModel: boolean): VisitRow {
  const { transport, seen, model, works, failure, configured, listed } = result;
  const isListed = listed ?? (seen.methods["tools/list"] ? "the run" : false);
  return {
    transport,
    configured,
    revision: seen.revision,
    capabilities: seen.capabilities,
    methods: Object.keys(seen.methods).toSorted(),
    listed: isListed === true ? "its own listing" : isListed || "nothing",
    ...(hasModel && {
      model: {
        name: model.names[0],
        searched: model.searched,
        instructions: result.instructions,
        question: questionOf(result),
      },
    }),
    works,
    failure,
  };
}

/** The everything-server prints the client's answer; without one the gateway's refusal is the tool's error. */
function questionOf({ model }: VisitResult): string {
  const [, result] = model.results;
  if (!result) return model.names[1] ? "not called" : "not offered";
  const action = /"action":\s*"(\w+)"/.exec(result.text)?.[1];
  return action ?? (/declare|support/i.test(result.text) ? "refused" : result.text.slice(0, 80));
}

/** One line of what a person sees while it runs. */
export function summaryLine(client: CompatClient, version: string, result: VisitResult): string {
  const { revision, model, works, failure, transport } = visitRow(result, client.hasModel);
  const words = [
    `${client.title} ${version}`.padEnd(26),
    transport.padEnd(5),
    works ? "ok    " : "FAILED",
    (revision ?? "–").padEnd(10),
    model ? (model.name ?? "").padEnd(40) : "",
    model ? `instructions: ${model.instructions ? "yes" : "no"}, question: ${model.question}` : "",
    failure ? `– ${failure}` : "",
  ];
  return words.join(" ").trimEnd();
}

/** The generated part of `docs/clients.md`. */
export function markdown(rows: readonly ClientRow[]): string {
  const works = table(
    ["client", "version", "stdio", "HTTP", "revision", "lists with"],
    rows.map((row) => [
      row.title,
      row.version,
      verdict(row, "stdio"),
      verdict(row, "http"),
      both(row, ({ revision }) => revision ?? "–"),
      both(row, ({ listed }) => listed),
    ]),
  );
  const models = table(
    ["client", "the model sees", "instructions", "a question"],
    rows
      .filter(({ visits }) => visits.some(({ model }) => model))
      .map((row) => [
        row.title,
        both(row, ({ model }) =>
          model?.name ? `\`${model.name}\`${model.searched ? ", after a search" : ""}` : "–",
        ),
        both(row, ({ model }) => (model?.instructions ? "yes" : "no")),
        both(row, ({ model }) => model?.question ?? "–"),
      ]),
  );
  const wire = table(
    ["client", "declares", "sends"],
    rows.map((row) => [
      row.title,
      both(row, ({ capabilities }) => codes(capabilities) || "nothing"),
      both(row, ({ methods }) => codes(methods)),
    ]),
  );
  const notes = rows.flatMap(({ title, note }) => (note ? [`- ${title}: ${note}.`] : []));
  const commands = rows.flatMap(({ visits }) =>
    visits.flatMap(({ configured }) => (configured?.includes("plugboard ") ? [configured] : [])),
  );
  return [
    works,
    notes.join("\n"),
    "Agents with a model:",
    models,
    "How they were told about the gateway, where it was not what `plugboard serve` prints:",
    ["```sh", ...commands.filter((line) => !line.startsWith("what ")), "```"].join("\n"),
    "What the gateway saw of them:",
    wire,
  ].join("\n\n");
}

function table(head: string[], lines: string[][]): string {
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const codes = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(", ");

/** One value if both transports agree, otherwise both. */
function both({ visits }: ClientRow, of: (visit: VisitRow) => string): string {
  const values = new Set(visits.map(of));
  if (values.size === 1) return [...values].join("");
  return visits.map((visit) => `${visit.transport === "http" ? "HTTP" : "stdio"}: ${of(visit)}`).join("<br>");
}

function verdict({ visits }: ClientRow, transport: TransportName): string {
  const found = visits.find((visit) => visit.transport === transport);
  if (!found) return "–";
  return found.works
    ? "works"
    : `fails: ${(found.failure ?? "").replaceAll("|", "\\|").replaceAll("\n", " ")}`;
}
