import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { commandFields } from "../command-fields.ts";
import { lost, noEquivalent } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { duration, nested, readOnly, record, standsFor, text, textList, texts } from "../fields.ts";
import type { NamedServer } from "../format.ts";
import { projectFile, userFile } from "../paths.ts";
import { allowed, denied } from "../tool-rules.ts";
import { urlOf, transport, usualWords } from "../transport.ts";
import { geminiVariables } from "../variables.ts";

export const gemini = clientFormat({
  id: "gemini",
  title: "Gemini CLI",
  syntax: "jsonc",
  files: (machine) => [
    userFile(machine, ".gemini", "settings.json"),
    projectFile(machine, ".gemini", "settings.json"),
  ],
  find: findServers,
  container: { path: () => ["mcpServers"], around: excludeDisabled },
  variables: geminiVariables,
  remote: "sse",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    cwd: text("cwd"),
    httpUrl: urlOf("http"),
    url: urlOf("sse"),
    headers: record("headers"),
    timeout: duration("callTimeoutMs", "milliseconds"),
    trust: standsFor("approval.default", "approve"),
    includeTools: allowed({ empty: "no tool" }),
    excludeTools: denied,
    oauth: nested({
      enabled: standsFor("auth", "oauth"),
      clientId: text("oauth.clientId"),
      clientSecret: text("oauth.clientSecret"),
      scopes: texts("oauth.scopes"),
    }),
  },
  beforeWrite: (draft) => {
    spellOutVariables(draft);
    // Disabled servers are listed next to the servers, see `excludeDisabled`.
    draft.config.delete("enabled");
  },
});

function findServers(document: Record<string, unknown>): Found {
  const mcp = isRecord(document["mcp"]) ? document["mcp"] : {};
  const excluded = new Set(textList(mcp["excluded"]));
  const allowed = textList(mcp["allowed"]);
  const only = allowed && new Set(allowed);
  const others = Object.keys(mcp).filter((key) => !["excluded", "allowed"].includes(key));
  return {
    ...entriesOf(document["mcpServers"], "mcpServers"),
    isDisabled: (name) => excluded.has(name) || (only !== undefined && !only.has(name)),
    notes: others.map((key) => lost(`mcp.${key}`, noEquivalent)),
  };
}

function excludeDisabled(
  document: Readonly<Record<string, unknown>>,
  _entries: unknown,
  servers: readonly NamedServer[],
) {
  const mcp = isRecord(document["mcp"]) ? document["mcp"] : {};
  const before = textList(mcp["excluded"]) ?? [];
  const known = new Set(before);
  const disabled = servers.filter(({ config }) => config.enabled === false).map(({ name }) => name);
  const added = disabled.filter((name) => !known.has(name));
  return added.length > 0 ? [{ path: ["mcp", "excluded"], value: [...before, ...added] }] : [];
}
