import { isRecord } from "../../../lib/record.ts";
import { clientFormat, listedEntries } from "../client-format.ts";
import { addressFields, commandLine, commandList } from "../command-fields.ts";
import { lost, type ReadDraft } from "../draft.ts";
import {
  disabled,
  duration,
  either,
  label,
  nested,
  readOnly,
  record,
  type Rule,
  text,
  texts,
} from "../fields.ts";
import { callbackPort } from "../oauth-fields.ts";
import { movableFile, projectFile } from "../paths.ts";
import { escapeTemplate } from "../../template.ts";
import { printReferences, variable } from "../references.ts";
import { denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

export const vibe = clientFormat({
  id: "vibe",
  title: "Mistral Vibe",
  syntax: "toml",
  files: (machine) => [
    movableFile(machine, "VIBE_HOME", ".vibe", "config.toml"),
    projectFile(machine, ".vibe", "config.toml"),
  ],
  find: (document) => listedEntries(document["mcp_servers"], "mcp_servers", "name"),
  container: { path: () => ["mcp_servers"], isList: true },
  variables: noVariables,
  remote: "http",
  fields: {
    name: label,
    transport: transport({ ...usualWords, http: "streamable-http", sse: "streamable-http" }),
    // Read before the command, which may be a whole command line.
    args: texts("args"),
    env: record("env"),
    command: programAndArguments(),
    cwd: text("cwd"),
    ...addressFields,
    api_key_env: { ...text("bearerTokenEnv"), read: () => undefined },
    api_key_header: { read: () => undefined },
    api_key_format: { read: () => undefined },
    auth: readOnly({ read: readAuth }),
    startup_timeout_sec: duration("startupTimeoutMs", "seconds"),
    tool_timeout_sec: duration("callTimeoutMs", "seconds"),
    disabled,
    disabled_tools: denied,
  },
  afterRead: (draft, entry) => readApiKey(draft, entry),
});

/** A string is split like a shell line; `args` come after its words. */
function programAndArguments(): Rule {
  const words = either(Array.isArray, commandList, commandLine);
  return {
    read: (value, field, draft) => {
      const args = draft.config.get("args");
      draft.config.delete("args");
      const problem = words.read(value, field, draft);
      const own = draft.config.get("args");
      const all = [own, args].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
      if (all.length > 0) draft.config.set("args", all);
      return problem;
    },
    write: (draft, field) => {
      const command = text("command").write?.(draft, field);
      return typeof command === "string" && /[\s"'\\]/.test(command) ? [command] : command;
    },
  };
}

const staticAuth = nested({
  type: { read: () => undefined },
  headers: record("headers"),
  api_key_env: { read: () => undefined },
  api_key_header: { read: () => undefined },
  api_key_format: { read: () => undefined },
});

const login = nested({
  type: { read: () => undefined },
  scopes: texts("oauth.scopes"),
  client_id: text("oauth.clientId"),
  redirect_port: callbackPort,
});

function readAuth(value: unknown, field: string, draft: ReadDraft): string | undefined {
  if (!isRecord(value)) return `\`${field}\` is not an object`;
  if (value["type"] !== "oauth") return staticAuth.read(value, field, draft) ?? readApiKey(draft, value);
  draft.config.set("auth", "oauth");
  return login.read(value, field, draft);
}

/** Three fields make one header: the variable with the token, the header's name, and a format such as `Bearer {token}`. */
function readApiKey(draft: ReadDraft, entry: Record<string, unknown>): string | undefined {
  const {
    api_key_env: name = "",
    api_key_header: header = "Authorization",
    api_key_format: format = "Bearer {token}",
  } = entry;
  if (typeof name !== "string" || typeof header !== "string" || typeof format !== "string")
    return "its `api_key_env`, `api_key_header` or `api_key_format` is not a string";
  if (name === "") return undefined;
  if (/^authorization$/i.test(header) && format === "Bearer {token}") {
    draft.config.set("bearerTokenEnv", name);
    return undefined;
  }
  const [before = "", after = ""] = format.split("{token}");
  const value = printReferences([before, variable(name), after].filter((part) => part !== ""));
  const headers = draft.config.get("headers");
  if (value === undefined || !format.includes("{token}"))
    draft.notes.push(lost("api_key_format", `cannot be written in our notation: ${escapeTemplate(format)}`));
  else draft.config.set("headers", { ...(isRecord(headers) ? headers : {}), [header]: value });
  return undefined;
}
