import { features, outcomes, type Outcome, type Pair } from "../test/gateway/bridge/features.ts";

const pairs: [Pair, string][] = [
  ["legacy-legacy", "legacy → legacy"],
  ["legacy-modern", "legacy → modern"],
  ["modern-legacy", "modern → legacy"],
  ["modern-modern", "modern → modern"],
];

/** Which columns show as which word. */
const words: Record<Outcome, string> = {
  passes: "passes",
  pushed: "pushed",
  standing: "asked aside",
  repeated: "pushed, repeated",
  wrapped: "wrapped",
  parked: "parked",
  subscribed: "shared",
  levelled: "filtered",
  perRequest: "per request",
  refused: "refused",
  none: "–",
};

/** `docs/bridge.md`, from the table whose cells the tests run. */
export function bridgeReference(): string {
  const notes: string[] = [];
  const rows = Object.values(features).map(({ area, title, pairs: cells, note }) => {
    if (note !== undefined) notes.push(note);
    const mark = note === undefined ? "" : ` <sup>${notes.length}</sup>`;
    const row = [area, `${title}${mark}`, ...pairs.map(([pair]) => words[cells[pair]])];
    return `| ${row.join(" | ")} |`;
  });
  const meanings = Object.entries(outcomes).map(
    ([outcome, meaning]) => `| ${words[outcome as Outcome]} | ${meaning} |`,
  );
  return `# The bridge between the eras

<!-- Written by scripts/generate.ts from test/gateway/bridge/features.ts. -->

A client of either era can use a server of either era through the gateway. The table says how each feature crosses,
for client → server. Every cell is a test (\`test/gateway/bridge*.test.ts\`), run with clients over HTTP and stdio and with
servers over stdio, HTTP, SSE (legacy only) and in process; each looks at what the client and what the server saw.
Legacy is every revision up to 2025-11-25, modern is 2026-07-28. How it works is in
[decisions/0017](decisions/0017-one-dispatcher-and-a-bridge.md).

| | feature | ${pairs.map(([, title]) => title).join(" | ")} |
|---|---|${pairs.map(() => "---|").join("")}
${rows.join("\n")}

${notes.map((note, index) => `<sup>${index + 1}</sup> ${note}`).join("  \n")}

| word | means |
|---|---|
${meanings.join("\n")}
`;
}
