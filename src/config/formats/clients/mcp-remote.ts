import { isRecord } from "../../../lib/record.ts";
import { lost, type ReadDraft, settle } from "../draft.ts";
import { textList } from "../fields.ts";
import { launchedPackage } from "../launchers.ts";
import { deny } from "../tool-rules.ts";

/**
 * Clients that cannot reach remote servers run `mcp-remote` in between. We reach them directly, so such an entry
 * becomes the remote server it stands for.
 */
export function unwrapMcpRemote(draft: ReadDraft): void {
  const { homes } = draft;
  const command = homes.get("command");
  if (typeof command !== "string") return;
  const launched = launchedPackage(command, textList(homes.get("args")) ?? []);
  const [url, ...words] = launched?.name === "mcp-remote" ? launched.rest : [];
  if (url === undefined || !/^(https?:\/\/|\$\{)/.test(url)) return;

  const env = new Map(
    Object.entries(isRecord(homes.get("env")) ? (homes.get("env") as Record<string, string>) : {}),
  );
  for (const home of ["command", "args", "env", "type", "cwd"] as const) {
    if (home === "cwd" && homes.has(home))
      draft.notes.push(lost(home, "a remote server has no working folder"));
    homes.delete(home);
  }
  // What was said about the words of the command line is no longer true of the headers they become.
  draft.notes = draft.notes.filter(
    ({ kind, field }) => kind !== "translated" || !/(^|\.)(args|command)\[/.test(field),
  );
  homes.set("url", url);
  draft.notes.push({
    kind: "translated",
    field: "command",
    message: "runs mcp-remote, which is not needed: Plugboard connects to the address itself",
  });
  readOptions(words, env, draft);
  if (!homes.has("type")) homes.set("type", "http");
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
      draft.homes.set("type", words.shift()?.startsWith("sse") ? "sse" : "http");
    } else if (word === "--ignore-tool") {
      deny(draft, words.splice(0, 1));
    } else if (word === "--static-oauth-client-info") {
      readClient(words.shift() ?? "", draft);
    } else if (/^\d{1,5}$/.test(word)) {
      settle(draft, "oauth.callbackPort", Number(word), "args");
    } else if (word.startsWith("-")) {
      draft.notes.push(
        lost(`args ${word.replace(/=.*/s, "")}`, "there is nothing like this option of mcp-remote here"),
      );
      if (words[0] !== undefined && !words[0].startsWith("-")) words.shift();
    }
  }
  if (headers.length > 0) draft.homes.set("headers", Object.fromEntries(headers));
  for (const name of used) env.delete(name);
}

/** mcp-remote looks `${NAME}` up in its own environment, which the entry may set; either way it is a variable, not text. */
function inline(value: string, env: ReadonlyMap<string, string>, used: Set<string>): string {
  return value.replace(/\$?\$\{([A-Za-z_]\w*)\}/g, (_whole, name: string) => {
    used.add(name);
    return env.get(name) ?? `\${${name}}`;
  });
}

/** The value may hold a client secret, so nothing of it is repeated in a note. */
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
  settle(draft, "oauth.clientId", client["client_id"], field);
  if (typeof client["client_secret"] === "string") {
    settle(draft, "oauth.clientSecret", client["client_secret"], field);
  }
}

function keepEnvironment(env: ReadonlyMap<string, string>, draft: ReadDraft): void {
  for (const [name, value] of env) {
    if (name === "NODE_EXTRA_CA_CERTS") settle(draft, "network.ca", value, "env.NODE_EXTRA_CA_CERTS");
    else draft.notes.push(lost(`env.${name}`, "was for mcp-remote, which no longer runs"));
  }
}
