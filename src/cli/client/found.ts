import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { formats } from "../../config.ts";
import type { Format, WiredFile, Workspace } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { ServerConfig } from "../../index.ts";
import { programCandidates } from "../../lib/program-path.ts";
import { gatewayName, isGatewayEntry } from "./gateway-entry.ts";
import { programOf } from "./health.ts";

export interface FoundClient extends WiredFile {
  format: Format;
  scope: "user" | "project";
  /** The entry that leads to the gateway. */
  gateway?: ServerConfig | undefined;
  /** Another server that has its name. */
  other?: ServerConfig | undefined;
  state: "wired" | "off" | "servers" | "not wired" | "other" | "unreadable";
}

/** A client's file, and whether it leads to a gateway. */
export async function readClient(
  format: Format,
  scope: "user" | "project",
  workspace: Workspace,
): Promise<FoundClient> {
  const file = await workspace.wiring.read(format, scope);
  const entry = file.servers.find(({ name }) => name === gatewayName)?.config;
  // What we wrote may start a program that is gone by now.
  const isWritten = file.entries.includes(gatewayName) && (entry?.args?.includes("serve") || entry?.url);
  const isOurs = entry !== undefined && (Boolean(isWritten) || isGatewayEntry(entry, workspace));
  const state =
    file.problem !== undefined
      ? "unreadable"
      : isOurs
        ? entry.enabled === false
          ? "off"
          : "wired"
        : entry
          ? "other"
          : file.entries.length > 0
            ? "servers"
            : "not wired";
  return { ...file, format, scope, state, ...(isOurs ? { gateway: entry } : { other: entry }) };
}

/** The clients that are on this machine: they have a file or a folder of their own, or a program on PATH. */
export async function foundClients(workspace: Workspace): Promise<FoundClient[]> {
  const found: FoundClient[] = [];
  for (const format of formats.filter(({ merging }) => merging)) {
    for (const scope of ["user", "project"] as const) {
      const files = format.files(workspace.machine).filter((one) => one.scope === scope);
      if (files.length === 0) continue;
      const client = await readClient(format, scope, workspace).catch(unlessOurs);
      const isHere = client?.exists || (scope === "user" && isInstalled(format, workspace));
      // In the home folder, a client's file for the project is the one for the user.
      const isTwice = found.some(({ file }) => file === client?.file);
      if (client && isHere && !isTwice) found.push(client);
    }
  }
  return found;
}

function isInstalled(format: Format, { machine, cwd }: Workspace): boolean {
  const { home, platform, env } = machine;
  const shared = [home, join(home, ".config"), env["XDG_CONFIG_HOME"]];
  const folders = format.files(machine).flatMap(({ path, scope }) => (scope === "user" ? dirname(path) : []));
  if (folders.some((folder) => !shared.includes(folder) && existsSync(folder))) return true;
  const command = programOf(format.id);
  return command !== undefined && programCandidates({ command, cwd, env, platform }).some(existsSync);
}

/** A project's `.mcp.json` is our own file too, which is not wired. */
function unlessOurs(error: unknown): undefined {
  if (error instanceof PlugboardError && error.code === "usage-invalid") return undefined;
  throw error;
}
