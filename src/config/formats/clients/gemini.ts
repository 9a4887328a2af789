import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { commandFields } from "../command-fields.ts";
import { lost, noEquivalent } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { duration, nested, readOnly, record, standsFor, text, textList, texts } from "../fields.ts";
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
  wrap: (entries, servers) => {
    const excluded = servers.filter(({ config }) => config.enabled === false).map(({ name }) => name);
    return excluded.length > 0 ? { mcpServers: entries, mcp: { excluded } } : { mcpServers: entries };
  },
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
    // Disabled servers are listed next to the servers, see `wrap`.
    draft.config.delete("enabled");
  },
});

function findServers(document: Record<string, unknown>): Found {
  const mcp = isRecord(document["mcp"]) ? document["mcp"] : {};
  const excluded = textList(mcp["excluded"]) ?? [];
  const only = textList(mcp["allowed"]);
  const others = Object.keys(mcp).filter((key) => !["excluded", "allowed"].includes(key));
  return {
    ...entriesOf(document["mcpServers"], "mcpServers"),
    isDisabled: (name) => excluded.includes(name) || (only !== undefined && !only.includes(name)),
    notes: others.map((key) => lost(`mcp.${key}`, noEquivalent)),
  };
}
