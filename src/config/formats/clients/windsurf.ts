import { type Client, clientFormat, ownFile } from "../client-format.ts";
import { commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, readOnly, record, text } from "../fields.ts";
import { dotConfigFile, main, projectFile, userFile } from "../paths.ts";
import { denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { editorVariables, noVariables } from "../variables.ts";

/** Windsurf and Antigravity share a format; a remote server's URL is in `serverUrl`. */
const sharedShape = {
  syntax: "jsonc",
  ...ownFile("mcpServers"),
  remote: "http",
  fields: {
    type: readOnly(transport(usualWords)),
    ...commandFields,
    cwd: readOnly(text("cwd")),
    serverUrl: text("url"),
    url: readOnly(text("url")),
    headers: record("headers"),
    disabled,
    disabledTools: denied,
  },
  beforeWrite: spellOutVariables,
} satisfies Partial<Client>;

export const windsurf = clientFormat({
  ...sharedShape,
  id: "windsurf",
  title: "Windsurf",
  files: (machine) => [
    main(userFile(machine, ".codeium", "windsurf", "mcp_config.json")),
    userFile(machine, ".codeium", "windsurf-next", "mcp_config.json"),
    dotConfigFile(machine, "devin", "mcp_config.json"),
  ],
  variables: editorVariables({ files: true }),
});

export const antigravity = clientFormat({
  ...sharedShape,
  id: "antigravity",
  title: "Antigravity",
  // The first was used before version 2; since then the app, the editor and the command line share the second.
  files: (machine) => [
    userFile(machine, ".gemini", "antigravity", "mcp_config.json"),
    main(userFile(machine, ".gemini", "config", "mcp_config.json")),
    projectFile(machine, ".agents", "mcp_config.json"),
  ],
  variables: noVariables,
});
