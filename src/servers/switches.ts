import type { LoadedConfig, ServerEntry, ServerStatus } from "../config/model.ts";

type Off = Extract<ServerStatus, { kind: "disabled" }>;

/**
 * The servers that were switched off in this run. What counts is the configuration with them, so that whoever asks
 * whether a server can be used gets one answer; what was loaded stays as it is.
 */
export class Switches {
  readonly #off = new Map<string, Off>();
  /** The entries as they were loaded, by what was made of them. */
  readonly #loaded = new WeakMap<ServerEntry, ServerEntry>();

  switchOff(name: string, message: string, hint: string): void {
    this.#off.set(name, { kind: "disabled", reason: "off", message, hint });
  }

  switchOn(name: string): void {
    this.#off.delete(name);
  }

  /** The configuration that counts. A more specific reason, such as policy or missing trust, is kept. */
  applyTo(config: LoadedConfig): LoadedConfig {
    const isOff = ({ name, status }: ServerEntry) => this.#off.has(name) && status.kind === "ready";
    if (![...config.servers.values()].some(isOff)) return config;
    const servers = [...config.servers].map(([name, entry]) => {
      const status = isOff(entry) ? this.#off.get(name) : undefined;
      if (!status) return [name, entry] as const;
      const off = { ...entry, status };
      this.#loaded.set(off, entry);
      return [name, off] as const;
    });
    return { ...config, servers: new Map(servers) };
  }

  /** The configuration as it was loaded, also where somebody hands the one that counts back. */
  undo(config: LoadedConfig): LoadedConfig {
    const entries = [...config.servers];
    if (!entries.some(([, entry]) => this.#loaded.has(entry))) return config;
    const servers = entries.map(([name, entry]) => [name, this.#loaded.get(entry) ?? entry] as const);
    return { ...config, servers: new Map(servers) };
  }
}
