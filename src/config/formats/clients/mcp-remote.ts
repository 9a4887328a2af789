import { isRecord } from "../../../lib/record.ts";
import { lost, type ReadDraft, setField } from "../draft.ts";
import { textList } from "../fields.ts";
import { launchedPackage } from "../launchers.ts";
import { escapeTemplate, parseTemplate, type Template } from "../../template.ts";
import { printReferences, splitText, variable } from "../references.ts";
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

/** Options without a value. */
const switches = new Set(["--allow-http", "--debug", "--silent", "--enable-proxy"]);

function readOptions(words: readonly string[], env: Map<string, string>, draft: ReadDraft): void {
  const headers: [string, string][] = [];
  const denied: string[] = [];
  const used = new Set<string>();
  let resource: string | false | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const next = words[at + 1] ?? "";
    if (word === "--header") {
      at++;
      const [, name, value = ""] = /^([^:]+):\s*(.*)$/s.exec(next) ?? [];
      const written = name === undefined ? undefined : inline(value, env, used);
      if (name !== undefined && written !== undefined) headers.push([name.trim(), written]);
      else draft.notes.push(lost("args --header", "is not a header that Plugboard can write"));
    } else if (word === "--transport") {
      at++;
      draft.config.set("type", next.startsWith("sse") ? "sse" : "http");
    } else if (word === "--ignore-tool") {
      at++;
      if (next !== "") denied.push(next);
    } else if (word === "--static-oauth-client-info") {
      at++;
      readClient(next, draft);
    } else if (word === "--resource") {
      at++;
      // Some pass nothing to leave the parameter out.
      resource ??= next.trim() || false;
    } else if (word === "--disable-resource-parameter") {
      resource = false;
    } else if (/^\d{1,5}$/.test(word)) {
      setField(draft, "oauth.callbackPort", Number(word), "args");
    } else if (word.startsWith("-")) {
      draft.notes.push(
        lost(`args ${word.replace(/=.*/s, "")}`, "Plugboard has no equivalent of this mcp-remote option"),
      );
      if (next !== "" && !next.startsWith("-") && !switches.has(word)) at++;
    }
  }
  if (resource !== undefined) setField(draft, "oauth.resource", resource, "args --resource");
  deny(draft, denied);
  if (headers.length > 0) draft.config.set("headers", Object.fromEntries(headers));
  for (const name of used) env.delete(name);
}

/**
 * mcp-remote looks up `${NAME}` in its own environment, part of which the entry sets; the rest stays a variable.
 * Undefined if our notation cannot express the result.
 */
function inline(value: string, env: ReadonlyMap<string, string>, used: Set<string>): string | undefined {
  const lookUp = (name: string): Template => {
    used.add(name);
    const own = env.get(name);
    return own === undefined ? [variable(name)] : parseTemplate(own);
  };
  const parts = parseTemplate(value).flatMap((part) => {
    if (typeof part !== "string") return part.kind === "env" ? lookUp(part.name) : [part];
    return splitText(part, /\$\{([A-Za-z_]\w*)\}/g, ([, name = ""]) => variable(name)).flatMap((inner) =>
      typeof inner === "string" ? [inner] : lookUp(inner.name),
    );
  });
  return printReferences(parts);
}

/** The value may contain a client secret, so no note repeats any of it. */
function readClient(json: string, draft: ReadDraft): void {
  const field = "args --static-oauth-client-info";
  let client: unknown;
  try {
    // In JSON a `$` can be written as `\u0024`, so what it decodes to is escaped again below.
    const [text = "", ...others] = parseTemplate(json);
    client = others.length === 0 && typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    client = undefined;
  }
  if (!isRecord(client) || typeof client["client_id"] !== "string") {
    draft.notes.push(lost(field, "is not an object with a plain `client_id`; set `oauth.clientId` by hand"));
    return;
  }
  setField(draft, "oauth.clientId", escapeTemplate(client["client_id"]), field);
  if (typeof client["client_secret"] === "string") {
    setField(draft, "oauth.clientSecret", escapeTemplate(client["client_secret"]), field);
  }
}

function keepEnvironment(env: ReadonlyMap<string, string>, draft: ReadDraft): void {
  for (const [name, value] of env) {
    if (name === "NODE_EXTRA_CA_CERTS") setField(draft, "network.ca", value, "env.NODE_EXTRA_CA_CERTS");
    else draft.notes.push(lost(`env.${name}`, "was for mcp-remote, which no longer runs"));
  }
}
