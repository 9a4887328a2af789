import { type Client, clientFormat, ownFile } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, duration, nested, readOnly, type Rules, text } from "../fields.ts";
import { applicationFile, main, projectFile, userFile } from "../paths.ts";
import { approvalList, denied } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { editorVariables, noVariables } from "../variables.ts";

/** Cline and its forks; they use SSE for a URL without a type, and each has its own word for HTTP. */
function fieldsWith(http: string): Rules {
  const transportFields: Rules = {
    type: transport({ ...usualWords, http }),
    ...commandFields,
    ...addressFields,
    cwd: text("cwd"),
  };
  return {
    ...transportFields,
    transportType: readOnly(transport(usualWords)),
    transport: readOnly(nested(transportFields)),
    disabled,
    timeout: duration("callTimeoutMs", "seconds"),
  };
}

const sharedShape = {
  syntax: "jsonc",
  ...ownFile("mcpServers"),
  remote: "sse",
  beforeWrite: (draft) => spellOutVariables(draft),
} satisfies Partial<Client>;

export const cline = clientFormat({
  ...sharedShape,
  id: "cline",
  title: "Cline",
  files: (machine) => [
    main(applicationFile(machine, ...extensionSettings("saoudrizwan.claude-dev"), "cline_mcp_settings.json")),
    userFile(machine, ".cline", "data", "settings", "cline_mcp_settings.json"),
    userFile(machine, ".cline", "mcp.json"),
  ],
  variables: noVariables,
  fields: {
    ...fieldsWith("streamableHttp"),
    autoApprove: approvalList("approve"),
    alwaysAllow: readOnly(approvalList("approve")),
    disabledTools: readOnly(denied),
  },
});

/** Also the shape of Kilo Code's older files. */
export const rooShape = {
  ...sharedShape,
  variables: editorVariables(),
  fields: {
    ...fieldsWith("streamable-http"),
    alwaysAllow: approvalList("approve"),
    autoApprove: readOnly(approvalList("approve")),
    disabledTools: denied,
  },
} satisfies Partial<Client>;

export const roo = clientFormat({
  ...rooShape,
  id: "roo",
  title: "Roo Code",
  files: (machine) => [
    applicationFile(machine, ...extensionSettings("rooveterinaryinc.roo-cline"), "mcp_settings.json"),
    projectFile(machine, ".roo", "mcp.json"),
  ],
});

export function extensionSettings(extension: string): string[] {
  return ["Code", "User", "globalStorage", extension, "settings"];
}
