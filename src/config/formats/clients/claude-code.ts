import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { headersHelper, usualFields } from "../command-fields.ts";
import { lost, type ReadDraft, type WriteDraft } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, flag, nested, readOnly, text, textList, unsupported } from "../fields.ts";
import type { ReadContext } from "../format.ts";
import { callbackPort, scopeText } from "../oauth-fields.ts";
import { movableFile, projectFile } from "../paths.ts";
import { shellVariables } from "../variables.ts";

export const claudeCode = clientFormat({
  id: "claude-code",
  title: "Claude Code",
  syntax: "jsonc",
  files: (machine) => [
    movableFile(machine, "CLAUDE_CONFIG_DIR", "", ".claude.json"),
    projectFile(machine, ".mcp.json"),
  ],
  find: findServers,
  container: { path: () => ["mcpServers"] },
  variables: shellVariables,
  remote: "http",
  fields: {
    ...usualFields,
    cwd: readOnly(text("cwd")),
    headersHelper,
    timeout: duration("maxCallTimeoutMs", "milliseconds"),
    request_timeout_ms: duration("callTimeoutMs", "milliseconds"),
    alwaysLoad: flag("alwaysLoad", { usual: false }),
    disabled: readOnly(disabled),
    oauth: nested({
      clientId: text("oauth.clientId"),
      callbackPort,
      scopes: scopeText,
      authServerMetadataUrl: unsupported("Plugboard asks the server for its authorization server"),
    }),
  },
  afterRead: (draft, entry) => {
    const isGuess =
      entry["url"] !== undefined && entry["type"] === undefined && entry["command"] === undefined;
    if (isGuess) draft.notes.push(assumedHttp);
    shareLimit(draft);
    return undefined;
  },
  beforeWrite: (draft) => {
    spellOutVariables(draft);
    joinLimits(draft);
  },
});

const assumedHttp = {
  kind: "translated",
  field: "type",
  message: "is missing, which Claude Code does not accept; http is assumed",
} as const;

/** The user's file has servers for all projects and for single ones; those for this project take precedence. */
function findServers(document: Record<string, unknown>, { projectRoot }: ReadContext): Found {
  const everywhere = entriesOf(document["mcpServers"], "mcpServers");
  const project = findProject(document["projects"], projectRoot);
  const here = entriesOf(project["mcpServers"], `projects.${projectRoot}.mcpServers`);
  const local = new Set(here.entries.map(([name]) => name));
  const shadowed = everywhere.entries.filter(([name]) => local.has(name));
  const names = new Set([...local, ...everywhere.entries.map(([name]) => name)]);
  const off = new Set(textList(document["disabledMcpjsonServers"]));
  const offHere = new Set(
    [project["disabledMcpServers"], project["disabledMcpjsonServers"]].flatMap(
      (list) => textList(list) ?? [],
    ),
  );
  const elsewhere = [...new Set([...offHere, ...off])].filter((name) => !names.has(name));
  return {
    entries: [...here.entries, ...everywhere.entries.filter(([name]) => !local.has(name))],
    local,
    isDisabled: (name) => off.has(name),
    isOffHere: (name) => offHere.has(name),
    notes: elsewhere.map((name) =>
      lost("disabledMcpServers", `disables \`${name}\`, which is not in this file`),
    ),
    skipped: [
      ...everywhere.skipped,
      ...here.skipped,
      ...shadowed.map(([name]) => ({ name, reason: "this project has its own entry with this name" })),
    ],
  };
}

/** On Windows, the file has project paths with forward slashes. */
function findProject(projects: unknown, root: string): Record<string, unknown> {
  if (!isRecord(projects)) return {};
  const path = [root, root.replaceAll("\\", "/")].find((candidate) => Object.hasOwn(projects, candidate));
  const project = path === undefined ? undefined : projects[path];
  return isRecord(project) ? project : {};
}

/** Claude Code's `timeout` limits the whole call, whether or not the server reports progress, so no other limit can be longer. */
function shareLimit({ config, notes }: ReadDraft): void {
  const whole = config.get("maxCallTimeoutMs");
  const single = config.get("callTimeoutMs");
  if (typeof whole !== "number") return;
  if (typeof single === "number" && single <= whole) return;
  config.set("callTimeoutMs", whole);
  if (single !== undefined)
    notes.push(lost("request_timeout_ms", "is longer than `timeout`, which ends the call"));
}

function joinLimits({ config, notes, client }: WriteDraft): void {
  const limit = config.get("maxCallTimeoutMs");
  if (limit === undefined) return;
  if (config.get("callTimeoutMs") === limit) config.delete("callTimeoutMs");
  else if (!config.has("callTimeoutMs")) {
    const message = `in ${client} also limits calls that report no progress`;
    notes.push({ kind: "translated", field: "maxCallTimeoutMs", message });
  }
}
