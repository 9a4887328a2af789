import type { errorTable } from "../src/host.ts";

/** Generates docs/errors.md from the error table. */
export function errorReference(table: typeof errorTable): string {
  const rows = Object.entries(table).map(
    ([code, { exitCode, httpStatus, rpcCode, shownAs, passes, executed, meaning, hint }]) =>
      `| \`${code}\` | ${exitCode} | ${httpStatus} | ${rpcCode} | ${shownAs} | ${executed} | ${passes ? "yes" : "no"} | ${meaning} | ${hint.replaceAll("|", "\\|")} |`,
  );
  return `# Errors

<!-- Written by \`npm run generate\` from src/errors.ts. Do not edit. -->

Every error is a \`PlugboardError\` with one of these codes. The command line exits with the exit code, and the gateway
responds with the HTTP status. \`--json\` prints \`{ "error": { code, message, hint, server, data } }\`.

- **RPC** is the code of the corresponding JSON-RPC error. **Tool call** says how a client sees a tool call that fails this
  way: as a \`result\` with \`isError: true\`, which a model can act on, or as an \`error\`.
- **Executed** says whether the server executed the request: \`no\`, \`maybe\` or \`yes\`. This is the default; \`error.executed\`
  is often more precise.
- **Passes** says whether the cause may go away by itself. \`error.retryable\` is true if it may and repeating the request is
  harmless: the request was not executed, or the tool is read-only or idempotent.
- \`error.retryAfterMs\` says how long to wait, and \`error.missingScopes\` which scopes a login lacks.

| code | exit | HTTP | RPC | tool call | executed | passes | what happened | what to do |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
}
