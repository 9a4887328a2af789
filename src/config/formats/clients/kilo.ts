import { clientFormat, type Found, ownFile, settingsFile } from "../client-format.ts";
import { extensionSettings, rooShape } from "./cline.ts";
import { firstVersion } from "./opencode-entries.ts";
import type { ReadContext } from "../format.ts";
import { applicationFile, dotConfigFile, main, projectFile, userFile } from "../paths.ts";

const ownServers = ownFile("mcpServers");
const servers = settingsFile("mcp");

/** Its current files are like opencode's, its older ones like Roo Code's. */
export const kilo = clientFormat({
  id: "kilo",
  title: "Kilo Code",
  syntax: "jsonc",
  files: (machine) => [
    applicationFile(machine, ...extensionSettings("kilocode.kilo-code"), "mcp_settings.json"),
    userFile(machine, ".kilocode", "cli", "global", "settings", "mcp_settings.json"),
    dotConfigFile(machine, "kilo", "kilo.json"),
    main(dotConfigFile(machine, "kilo", "kilo.jsonc")),
    projectFile(machine, ".kilocode", "mcp.json"),
    projectFile(machine, "kilo.json"),
    projectFile(machine, "kilo.jsonc"),
    projectFile(machine, ".kilo", "kilo.json"),
    main(projectFile(machine, ".kilo", "kilo.jsonc")),
  ],
  find: findServers,
  container: {
    path: (document) => (isOld(document) ? ["mcpServers"] : ["mcp"]),
    shape: (document) => (isOld(document) ? rooShape : firstVersion),
  },
  ...firstVersion,
});

function findServers(document: Record<string, unknown>, context: ReadContext): Found {
  return isOld(document)
    ? { ...ownServers.find(document, context), shape: rooShape }
    : servers.find(document, context);
}

function isOld(document: Readonly<Record<string, unknown>>): boolean {
  return document["mcp"] === undefined && document["mcpServers"] !== undefined;
}
