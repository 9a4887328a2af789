import { isRecord } from "../../../lib/record.ts";
import { lost, type ReadDraft, setField } from "../draft.ts";
import { textList } from "../fields.ts";
import { launchedPackage } from "../launchers.ts";
import { deny } from "../tool-rules.ts";

/**
 * Clients without support for remote servers run `mcp-remote` to reach them. Plugboard connects directly, so such an
 * entry becomes a remote server.
 */
export function unwrapMcpRemote(draft: ReadDraft): void {
  const { config } = draft;
  const command = config.get("command");
  if (typeof command !== "string") return;
  const launched = launchedPackage(command, textList(config.get("args")) ?? []);
  const [url, ...words] = launched?.name === "mcp-remote" ? launched.rest : [];
  if (url === undefined || !/^(https?:\/\/|\$\{)/.test(url)) return;

  const env = new Map(
    Object.entries(isRecord(config.get("env")) ? (config.get("env") as Record<string, string>) : {}),
  );
  for (const target of ["command", "args", "env", "type", "cwd"] as const) {
    if (target === "cwd" && config.has(target))
      draft.notes.push(lost(target, "a remote server has no working folder"));
    config.delete(target);
  }
  // Notes about the command line do not apply to the headers it is turned into.
  draft.notes = draft.notes.filter(
    ({ kind, field }) => kind !== "translated" || !/(^|\.)(args|command)\[/.test(field),
  );
  config.set("url", url);
  draft.notes.push({
    kind: "translated",
    field: "command",
    message: "runs mcp-remote, which is not needed: Plugboard connects to the URL itself",
  });
  readOptions(words, env, draft);
  if (!config.has("type")) config.set("type", "http");
  keepEnvironment(env, draft);
}

function readOptions(words: string[], env: Map<string, string>, draft: ReadDraft): void {
  const headers: [string, string][] = [];
  const used = new Set<string>();
  while (words.length > 0) {
    const word = words.shift() ?? "";
    if (word === "--header") {
      const [, name, value] = /^([^:]+):\s*(.*)$/s.exec(words.shift() ?? "") ?? [];
      if (name !== undefined && value !== undefined) headers.push([name.trim(), inline(value, env, used)]);
    } else if (word === "--transport") {
      draft.config.set("type", words.shift()?.startsWith("sse") ? "sse" : "http");
    } else if (word === "--ignore-tool") {
      deny(draft, words.splice(0, 1));
    } else if (word === "--static-oauth-client-info") {
      readClient(words.shift() ?? "", draft);
    } else if (/^\d{1,5}$/.test(word)) {
      setField(draft, "oauth.callbackPort", Number(word), "args");
    } else if (word.startsWith("-")) {
      draft.notes.push(
        lost(`args ${word.replace(/=.*/s, "")}`, "Plugboard has no equivalent of this mcp-remote option"),
      );
      if (words[0] !== undefined && !words[0].startsWith("-")) words.shift();
    }
  }
  if (headers.length > 0) draft.config.set("headers", Object.fromEntries(headers));
  for (const name of used) env.delete(name);
}

/** mcp-remote looks up `${NAME}` in its own environment, part of which the entry sets; the rest stays a variable. */
function inline(value: string, env: ReadonlyMap<string, string>, used: Set<string>): string {
  return value.replace(/\$?\$\{([A-Za-z_]\w*)\}/g, (_whole, name: string) => {
    used.add(name);
    return env.get(name) ?? `\${${name}}`;
  });
}

/** The value may contain a client secret, so no note repeats any of it. */
function readClient(json: string, draft: ReadDraft): void {
  const field = "args --static-oauth-client-info";
  let client: unknown;
  try {
    client = JSON.parse(json);
  } catch {
    client = undefined;
  }
  if (!isRecord(client) || typeof client["client_id"] !== "string") {
    draft.notes.push(lost(field, "is not an object with a `client_id`"));
    return;
  }
  setField(draft, "oauth.clientId", client["client_id"], field);
  if (typeof client["client_secret"] === "string") {
    setField(draft, "oauth.clientSecret", client["client_secret"], field);
  }
}

function keepEnvironment(env: ReadonlyMap<string, string>, draft: ReadDraft): void {
  for (const [name, value] of env) {
    if (name === "NODE_EXTRA_CA_CERTS") setField(draft, "network.ca", value, "env.NODE_EXTRA_CA_CERTS");
    else draft.notes.push(lost(`env.${name}`, "was for mcp-remote, which no longer runs"));
  }
}
