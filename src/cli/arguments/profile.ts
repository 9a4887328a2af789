import { InvalidArgumentError, Option } from "commander";
import { PlugboardError } from "../../index.ts";
import type { ServerEntry } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import type { CommonOptions } from "../verb.ts";

export interface ProfileOptions extends CommonOptions {
  profile?: string;
}

export function profileOption(): Option {
  return new Option("--profile <name>", "use this account instead of the configured one").argParser(
    (name) => {
      if (name.trim() !== "") return name;
      throw new InvalidArgumentError("It must be the name of an account.");
    },
  );
}

/** Rejects --profile for a server that has no accounts. Call it only for a server the user named. */
export function assertAccounts(entry: ServerEntry | undefined, profile: string | undefined): void {
  if (profile === undefined || !entry?.config || entry.config.url !== undefined) return;
  const { name } = entry;
  throw new PlugboardError("usage-invalid", `"${name}" runs on this machine and has no accounts.`, {
    server: name,
    hint: "Remove --profile.",
  });
}

/** The account configured for a server, if any. */
export function profileOf({ settings }: LoadedConfig, { name, config }: ServerEntry): string | undefined {
  const { profiles = {} } = settings;
  return Object.hasOwn(profiles, name) ? profiles[name] : config?.oauth?.profile;
}
