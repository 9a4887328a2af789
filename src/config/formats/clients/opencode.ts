import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { lost, noEquivalent } from "../draft.ts";
import { firstVersion, secondVersion } from "./opencode-entries.ts";
import { dotConfigFile, main, projectFile } from "../paths.ts";

/** Reads both versions of the file and writes the first, which is the released one. */
export const opencode = clientFormat({
  id: "opencode",
  title: "opencode",
  syntax: "jsonc",
  files: (machine) => [
    main(dotConfigFile(machine, "opencode", "opencode.json")),
    dotConfigFile(machine, "opencode", "opencode.jsonc"),
    main(projectFile(machine, "opencode.json")),
    projectFile(machine, "opencode.jsonc"),
  ],
  find: findServers,
  container: {
    path: (document) => (hasServersKey(document) ? ["mcp", "servers"] : ["mcp"]),
    shape: (document) => (hasServersKey(document) ? secondVersion : firstVersion),
  },
  ...firstVersion,
});

function findServers(document: Record<string, unknown>): Found {
  const mcp = document["mcp"];
  if (!isRecord(mcp) || !hasServersKey(document)) return entriesOf(mcp, "mcp");
  const others = Object.keys(mcp).filter((key) => key !== "servers");
  return {
    ...entriesOf(mcp["servers"], "mcp.servers"),
    shape: secondVersion,
    notes: others.map((key) => lost(`mcp.${key}`, noEquivalent)),
  };
}

/** True for a document of the second version; in the first, a server may itself be called `servers`. */
function hasServersKey({ mcp }: Readonly<Record<string, unknown>>): boolean {
  const servers = isRecord(mcp) ? mcp["servers"] : undefined;
  return isRecord(servers) && !("command" in servers) && !("url" in servers);
}
