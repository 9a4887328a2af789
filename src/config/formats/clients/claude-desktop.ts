import { clientFormat, settingsFile } from "../client-format.ts";
import { commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, readOnly, record, text } from "../fields.ts";
import { wrapInMcpRemote } from "./mcp-remote-command.ts";
import { applicationFile } from "../paths.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

/** Its file supports only local servers, so remote ones are written as a command that runs `mcp-remote`. */
export const claudeDesktop = clientFormat({
  id: "claude-desktop",
  title: "Claude Desktop",
  syntax: "jsonc",
  files: (machine) => [applicationFile(machine, "Claude", "claude_desktop_config.json")],
  ...settingsFile("mcpServers"),
  variables: noVariables,
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    cwd: readOnly(text("cwd")),
    url: readOnly(text("url")),
    headers: readOnly(record("headers")),
    disabled: readOnly(disabled),
  },
  beforeWrite: (draft) => {
    spellOutVariables(draft);
    wrapInMcpRemote(draft);
  },
});
