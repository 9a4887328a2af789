import { existsSync } from "node:fs";
import type { LoadedConfig } from "../config/model.ts";
import { usualKey } from "../servers/account-of.ts";
import { LastFailures } from "../servers/last-failures.ts";
import type { LastFailure } from "../servers/last-failures.ts";
import type { Store } from "../store/store.ts";

interface KnownFailuresSettings {
  stateFile: string;
  /** This user's own state. */
  store(): Promise<Store>;
  /** Where hubs of a configuration keep what they learn. */
  storeOf(config: LoadedConfig): Promise<Store>;
}

/** Why this user's servers failed in earlier commands. */
export class KnownFailures {
  readonly #settings: KnownFailuresSettings;

  constructor(settings: KnownFailuresSettings) {
    this.#settings = settings;
  }

  /** The last failure of each usable server that did not connect since then. Starts nothing and creates no state. */
  async list(
    config: LoadedConfig,
    { profile }: { profile?: string | undefined } = {},
  ): Promise<Map<string, LastFailure>> {
    // Without the state file, no hub has run; a store of its own is somewhere else.
    if (config.settings.store === undefined && !existsSync(this.#settings.stateFile)) return new Map();
    const failures = new LastFailures(() => this.#settings.storeOf(config));
    const found = [...config.servers.values()]
      .filter(({ status }) => status.kind === "ready")
      .map(async (entry) => {
        const failure = await failures.recall(entry, usualKey(entry, config, profile));
        return failure ? ([[entry.name, failure]] as const) : [];
      });
    return new Map((await Promise.all(found)).flat());
  }

  /** A secret has another value: servers that use it are tried again. */
  async forgetSecret(name: string): Promise<void> {
    if (!existsSync(this.#settings.stateFile)) return;
    await new LastFailures(() => this.#settings.store()).forgetSecret(name);
  }
}
