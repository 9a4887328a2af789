import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { lost, noEquivalent } from "../draft.ts";
import { firstVersion, secondVersion } from "./opencode-entries.ts";
import { dotConfigFile, projectFile } from "../paths.ts";

/** Reads both versions of the file and writes the first, which is the released one. */
export const opencode = clientFormat({
  id: "opencode",
  title: "opencode",
  syntax: "jsonc",
  files: (machine) => [
    dotConfigFile(machine, "opencode", "opencode.json"),
    dotConfigFile(machine, "opencode", "opencode.jsonc"),
    projectFile(machine, "opencode.json"),
    projectFile(machine, "opencode.jsonc"),
  ],
  find: findServers,
  wrap: (entries) => ({ mcp: entries }),
  ...firstVersion,
});

function findServers(document: Record<string, unknown>): Found {
  const mcp = document["mcp"];
  const servers = isRecord(mcp) ? mcp["servers"] : undefined;
  // In the first version a server may itself be called `servers`.
  if (!isRecord(mcp) || !isRecord(servers) || "command" in servers || "url" in servers)
    return entriesOf(mcp, "mcp");
  const others = Object.keys(mcp).filter((key) => key !== "servers");
  return {
    ...entriesOf(servers, "mcp.servers"),
    shape: secondVersion,
    notes: others.map((key) => lost(`mcp.${key}`, noEquivalent)),
  };
}
