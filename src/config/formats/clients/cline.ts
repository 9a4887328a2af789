import { type Client, clientFormat, ownFile } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { disabled, duration, nested, type Rules, text } from "../fields.ts";
import { applicationFile, projectFile, userFile } from "../paths.ts";
import { approvalList, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { editorVariables, noVariables } from "../variables.ts";

const transportFields: Rules = {
  ...usualFields,
  cwd: text("cwd"),
};

/** Cline and its forks; they use SSE for a URL without a type. */
const sharedShape = {
  syntax: "jsonc",
  find: ownFile("mcpServers").find,
  remote: "sse",
  fields: {
    ...transportFields,
    transportType: transport(usualWords),
    transport: nested(transportFields),
    disabled,
    timeout: duration("callTimeoutMs", "seconds"),
    autoApprove: approvalList("approve"),
    alwaysAllow: approvalList("approve"),
    disabledTools: denied,
  },
} satisfies Partial<Client>;

export const cline = clientFormat({
  ...sharedShape,
  id: "cline",
  title: "Cline",
  files: (machine) => [
    applicationFile(machine, ...extensionSettings("saoudrizwan.claude-dev"), "cline_mcp_settings.json"),
    userFile(machine, ".cline", "data", "settings", "cline_mcp_settings.json"),
    userFile(machine, ".cline", "mcp.json"),
  ],
  variables: noVariables,
});

export const roo = clientFormat({
  ...sharedShape,
  id: "roo",
  title: "Roo Code and Kilo Code",
  files: (machine) => [
    applicationFile(machine, ...extensionSettings("rooveterinaryinc.roo-cline"), "mcp_settings.json"),
    applicationFile(machine, ...extensionSettings("kilocode.kilo-code"), "mcp_settings.json"),
    projectFile(machine, ".roo", "mcp.json"),
    projectFile(machine, ".kilocode", "mcp.json"),
  ],
  variables: editorVariables(),
});

function extensionSettings(extension: string): string[] {
  return ["Code", "User", "globalStorage", extension, "settings"];
}
