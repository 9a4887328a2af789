import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { headersHelper, usualFields } from "../command-fields.ts";
import { lost, type ReadDraft, type WriteDraft } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, flag, nested, readOnly, text, textList, without } from "../fields.ts";
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
  wrap: (entries) => ({ mcpServers: entries }),
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
      authServerMetadataUrl: without("the authorization server is found through the server itself"),
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
  message: "is missing, which Claude Code refuses; the address is taken for http",
} as const;

/** The user's file holds servers for everywhere and for single projects; those of this project are closer. */
function findServers(document: Record<string, unknown>, { projectRoot }: ReadContext): Found {
  const everywhere = entriesOf(document["mcpServers"], "mcpServers");
  const project = findProject(document["projects"], projectRoot);
  const here = entriesOf(project["mcpServers"], `projects.${projectRoot}.mcpServers`);
  const local = new Set(here.entries.map(([name]) => name));
  const shadowed = everywhere.entries.filter(([name]) => local.has(name));
  const names = new Set([...local, ...everywhere.entries.map(([name]) => name)]);
  const off = new Set(
    [
      project["disabledMcpServers"],
      project["disabledMcpjsonServers"],
      document["disabledMcpjsonServers"],
    ].flatMap((list) => textList(list) ?? []),
  );
  const elsewhere = [...off].filter((name) => !names.has(name));
  return {
    entries: [...here.entries, ...everywhere.entries.filter(([name]) => !local.has(name))],
    local,
    off: (name) => off.has(name),
    notes: elsewhere.map((name) =>
      lost("disabledMcpServers", `switches off \`${name}\`, which is not in this file`),
    ),
    skipped: [
      ...everywhere.skipped,
      ...here.skipped,
      ...shadowed.map(([name]) => ({ name, reason: "this project has an entry of its own with this name" })),
    ],
  };
}

/** On Windows the path is written with slashes. */
function findProject(projects: unknown, root: string): Record<string, unknown> {
  if (!isRecord(projects)) return {};
  const path = [root, root.replaceAll("\\", "/")].find((candidate) => Object.hasOwn(projects, candidate));
  const project = path === undefined ? undefined : projects[path];
  return isRecord(project) ? project : {};
}

/** Its limit is on the whole call, whether the server reports progress or not; no other limit can be longer. */
function shareLimit({ homes, notes }: ReadDraft): void {
  const whole = homes.get("maxCallTimeoutMs");
  const single = homes.get("callTimeoutMs");
  if (typeof whole !== "number") return;
  if (typeof single === "number" && single <= whole) return;
  homes.set("callTimeoutMs", whole);
  if (single !== undefined)
    notes.push(lost("request_timeout_ms", "is longer than `timeout`, which ends the call"));
}

function joinLimits({ homes, notes, client }: WriteDraft): void {
  const limit = homes.get("maxCallTimeoutMs");
  if (limit === undefined) return;
  if (homes.get("callTimeoutMs") === limit) homes.delete("callTimeoutMs");
  else if (!homes.has("callTimeoutMs")) {
    const message = `in ${client} also limits calls that report no progress`;
    notes.push({ kind: "translated", field: "maxCallTimeoutMs", message });
  }
}
