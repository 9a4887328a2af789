import { InvalidArgumentError, Option } from "commander";
import { PlugboardError } from "../../index.ts";
import type { LoadedConfig, ServerEntry } from "../../index.ts";
import type { CommonOptions } from "../verb.ts";

export interface ProfileOptions extends CommonOptions {
  profile?: string;
}

export function profileOption(): Option {
  return new Option("--profile <name>", "as another account than the configured one").argParser((name) => {
    if (name.trim() !== "") return name;
    throw new InvalidArgumentError("It takes the name of an account.");
  });
}

/** For a server that was named: an account of one that has none is a mistake. */
export function assertAccounts(entry: ServerEntry | undefined, profile: string | undefined): void {
  if (profile === undefined || !entry?.config || entry.config.url !== undefined) return;
  const { name } = entry;
  throw new PlugboardError("usage-invalid", `"${name}" runs on this machine and has no accounts.`, {
    server: name,
    hint: "Leave --profile out.",
  });
}

/** The account that is used for a server, as far as it was chosen. */
export function profileOf({ settings }: LoadedConfig, { name, config }: ServerEntry): string | undefined {
  const { profiles = {} } = settings;
  return Object.hasOwn(profiles, name) ? profiles[name] : config?.oauth?.profile;
}
