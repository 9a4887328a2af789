import { clientFormat, settingsFile } from "../client-format.ts";
import { approvalByTool, defaultApproval, inheritedVariables, noteUnusableName } from "./codex-rules.ts";
import { commandFields, headersHelper } from "../command-fields.ts";
import { foldVariables } from "../environment.ts";
import {
  choice,
  duration,
  enabled,
  flag,
  nested,
  readOnly,
  record,
  text,
  texts,
  unsupported,
} from "../fields.ts";
import { callbackPort } from "../oauth-fields.ts";
import { main, movableFile, projectFile, userFile } from "../paths.ts";
import { allowed, denied } from "../tool-rules.ts";
import { noVariables } from "../variables.ts";

/** Codex and its forks; the forks use `excluded_tools`. */
export const codex = clientFormat({
  id: "codex",
  title: "Codex",
  syntax: "toml",
  files: (machine) => [
    userFile(machine, ".code", "config.toml"),
    main(movableFile(machine, "CODEX_HOME", ".codex", "config.toml")),
    projectFile(machine, ".codex", "config.toml"),
  ],
  ...settingsFile("mcp_servers"),
  variables: noVariables,
  remote: "http",
  fields: {
    ...commandFields,
    env_vars: inheritedVariables,
    cwd: text("cwd"),
    url: text("url"),
    bearer_token_env_var: text("bearerTokenEnv"),
    bearer_token: unsupported("Codex does not allow tokens in its file; use a secret"),
    http_headers: record("headers"),
    headers: readOnly(record("headers")),
    env_http_headers: record("headersFromEnv"),
    http_headers_helper: headersHelper,
    enabled,
    required: flag("required", { usual: false }),
    startup_timeout_sec: duration("startupTimeoutMs", "seconds"),
    startup_timeout_ms: readOnly(duration("startupTimeoutMs", "milliseconds")),
    tool_timeout_sec: duration("callTimeoutMs", "seconds"),
    enabled_tools: allowed({ empty: "no tool" }),
    disabled_tools: denied,
    excluded_tools: readOnly(denied),
    default_tools_approval_mode: defaultApproval,
    tools: approvalByTool,
    auth: choice("auth", { oauth: "oauth" }),
    scopes: texts("oauth.scopes"),
    oauth: nested({ client_id: text("oauth.clientId"), callback_port: callbackPort }),
  },
  beforeWrite: (draft) => {
    foldVariables(draft);
    noteUnusableName(draft);
  },
});
