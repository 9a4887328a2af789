import type { errorTable } from "../src/index.ts";

/** docs/errors.md, from the one table. */
export function errorReference(table: typeof errorTable): string {
  const rows = Object.entries(table).map(
    ([code, { exitCode, httpStatus, rpcCode, shownAs, passes, executed, meaning, hint }]) =>
      `| \`${code}\` | ${exitCode} | ${httpStatus} | ${rpcCode} | ${shownAs} | ${executed} | ${passes ? "yes" : "no"} | ${meaning} | ${hint.replaceAll("|", "\\|")} |`,
  );
  return `# Errors

<!-- Written by \`npm run generate\` from src/errors.ts. Do not edit. -->

Every error is a \`PlugboardError\` with one of these codes. The command line exits with the exit code, the gateway answers
with the HTTP status. \`--json\` prints \`{ "error": { code, message, hint, server, data } }\`.

- **RPC** is the code of the JSON-RPC error that stands for it. **Tool call** says how a client sees it when a tool call
  fails this way: as a \`result\` with \`isError: true\`, which a model can act on, or as an \`error\`.
- **Executed** says whether the server acted on the request: \`no\`, \`maybe\` or \`yes\`. The place that throws often knows
  better than the table; \`error.executed\` holds what is known.
- **Passes** says whether the cause may go away by itself. \`error.retryable\` is true when it may and repeating does no
  harm: the request was not executed, or the tool is read-only or idempotent.
- \`error.retryAfterMs\` says how long to wait, \`error.missingScopes\` which rights a login lacks.

| code | exit | HTTP | RPC | tool call | executed | passes | what happened | what to do |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
}
