import type { errorTable } from "../src/index.ts";

/** docs/errors.md, from the one table. */
export function errorReference(table: typeof errorTable): string {
  const rows = Object.entries(table).map(
    ([code, { exitCode, httpStatus, retryable, meaning, hint }]) =>
      `| \`${code}\` | ${exitCode} | ${httpStatus} | ${retryable ? "yes" : "no"} | ${meaning} | ${hint.replaceAll("|", "\\|")} |`,
  );
  return `# Errors

<!-- Written by \`npm run generate\` from src/errors.ts. Do not edit. -->

Every error is a \`PlugboardError\` with one of these codes. The command line exits with the exit code, the gateway answers
with the HTTP status. \`--json\` prints \`{ "error": { code, message, hint, server, data } }\`.

| code | exit | HTTP | retry | what happened | what to do |
|---|---|---|---|---|---|
${rows.join("\n")}
`;
}
