import { defaultProfile } from "../auth/oauth/record.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { PlugboardError } from "../errors.ts";
import { connectionKey } from "./connection-key.ts";
import type { ConnectionKey } from "./connection-key.ts";

type Loaded = Pick<LoadedConfig, "servers" | "settings">;

/** The account that was chosen for everything (`profile`), or by the settings for this server. */
export function chosenAccount(
  name: string,
  { servers, settings }: Loaded,
  profile: string | undefined,
): string | undefined {
  if (servers.get(name)?.config?.url === undefined) return undefined;
  const { profiles = {} } = settings;
  return profile ?? (Object.hasOwn(profiles, name) ? profiles[name] : undefined);
}

/** The account of a connection; `asked` comes before `chosen`. What runs on this machine has no accounts. */
export function accountOf(
  { name, config }: ServerEntry,
  asked: string | undefined,
  chosen: string | undefined,
): { account?: string } {
  if (asked === "") throw new PlugboardError("usage-invalid", "A profile needs a name.", { server: name });
  if (config?.url === undefined) return {};
  return { account: asked ?? chosen ?? config.oauth?.profile ?? defaultProfile };
}

/** The key of a server's default connection: the configured account, no caller or folder of its own. */
export function usualKey(
  entry: ServerEntry,
  config: Loaded & Pick<LoadedConfig, "projectRoot">,
  profile?: string,
): ConnectionKey {
  const { name: server } = entry;
  return connectionKey({
    server,
    ...(entry.config?.isolation === "project" && { project: config.projectRoot }),
    ...accountOf(entry, undefined, chosenAccount(server, config, profile)),
  });
}
