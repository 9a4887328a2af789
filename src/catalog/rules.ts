import type { LoadedConfig } from "../config/model.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { ServerSet } from "../servers/server-set.ts";
import { defaultNaming } from "./names.ts";
import type { Naming } from "./names.ts";
import type { Rules } from "./tool-index.ts";

const noConfig: ServerConfig = {};

/** The rules for each server's tools. Returns the same object until the configuration changes. */
export class JudgingRules {
  readonly #servers: ServerSet;
  readonly #rules = new WeakMap<ServerConfig, Rules>();
  #config: LoadedConfig | undefined;
  #naming = defaultNaming;

  constructor(servers: ServerSet) {
    this.#servers = servers;
  }

  get naming(): Naming {
    const { config } = this.#servers;
    if (this.#config === config) return this.#naming;
    const { style = defaultNaming.style, maxLength = defaultNaming.maxLength } = config.settings.naming ?? {};
    this.#config = config;
    if (style !== this.#naming.style || maxLength !== this.#naming.maxLength)
      this.#naming = { style, maxLength };
    return this.#naming;
  }

  of(server: string): Rules {
    const { naming } = this;
    const { servers, pins: all } = this.#servers.config;
    const config = servers.get(server)?.config ?? noConfig;
    // What cannot be used has nothing to pin, and all of it shares one object.
    const pins = config === noConfig ? undefined : all?.get(server);
    let rules = this.#rules.get(config);
    if (rules?.naming !== naming || rules.pins !== pins) {
      rules = { config, naming, pins };
      this.#rules.set(config, rules);
    }
    return rules;
  }
}
