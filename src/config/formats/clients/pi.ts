import { isRecord } from "../../../lib/record.ts";
import { clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { type ReadDraft, setField } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, either, nested, readOnly, type Rule, text } from "../fields.ts";
import { noLogin, scopeText } from "../oauth-fields.ts";
import { dotConfigFile, main, movableFile, projectFile, userFile } from "../paths.ts";
import { allowed, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { piVariables } from "../variables.ts";

export const pi = clientFormat({
  id: "pi",
  title: "pi-mcp-adapter",
  syntax: "jsonc",
  files: (machine) => [
    dotConfigFile(machine, "mcp", "mcp.json"),
    userFile(machine, ".agents", "mcp.json"),
    userFile(machine, ".agents", "mcp", "mcp.json"),
    main(movableFile(machine, "PI_CODING_AGENT_DIR", ".pi/agent", "mcp.json")),
    projectFile(machine, ".pi", "mcp.json"),
  ],
  ...ownFile("mcpServers"),
  variables: piVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    cwd: text("cwd"),
    ...addressFields,
    auth: authKind(),
    bearerToken: { read: readBearerToken },
    bearerTokenEnv: text("bearerTokenEnv"),
    oauth: either(
      (value) => value === false,
      noLogin,
      nested({
        clientId: text("oauth.clientId"),
        clientSecret: text("oauth.clientSecret"),
        scope: scopeText,
      }),
    ),
    requestTimeoutMs: duration("callTimeoutMs", "milliseconds"),
    includeTools: allowed({ empty: "no tool" }),
    excludeTools: denied,
    disabled,
  },
  beforeWrite: (draft) => spellOutVariables(draft, ["bearerTokenEnv"]),
});

/** `bearer` only says that one of the next two fields counts. */
function authKind(): Rule {
  return {
    read: (value, field, draft) => {
      if (value === "oauth") setField(draft, "auth", "oauth", field);
      else if (value === false) setField(draft, "auth", "none", field);
      else if (value !== "bearer") return `\`${field}\` has an unknown value`;
      return undefined;
    },
    write: (draft) => {
      if (draft.config.has("bearerTokenEnv")) return "bearer";
      if (draft.config.get("auth") !== "oauth") return undefined;
      draft.config.delete("auth");
      return "oauth";
    },
  };
}

function readBearerToken(value: unknown, field: string, draft: ReadDraft): string | undefined {
  if (typeof value !== "string") return `\`${field}\` is not a string`;
  const headers = draft.config.get("headers");
  const own = isRecord(headers) ? headers : {};
  draft.config.set("headers", { ...own, Authorization: `Bearer ${draft.translate(value, field)}` });
  return undefined;
}
