import { diffConfig, setLoopsAside, watchConfig } from "../../config.ts";
import { createHub } from "../../index.ts";
import type { ConfigWatch, LoopContext, Workspace } from "../../config.ts";
import type { Hub, LoadedConfig, Telemetry } from "../../index.ts";
import { servingOptions } from "../../gateway/index.ts";
import { shellWord } from "../../lib/argv.ts";
import { canonicalJson } from "../../lib/canonical.ts";
import { StatusBoard } from "../views/status/board.ts";
import type { StatusRow } from "../views/status/board.ts";
import { followChanges } from "../views/status/watch.ts";
import { awaitLogins } from "./awaited-logins.ts";
import { createDemoServer } from "./demo-server.ts";

export interface ServedHubOptions {
  workspace: Workspace;
  config: LoadedConfig;
  /** Only the servers of this bundle are started. */
  bundle?: string | undefined;
  /** Throws if the gateway cannot serve a changed configuration. */
  check(config: LoadedConfig): void;
  telemetry: Telemetry | undefined;
  /** Writes one line about something that happened. */
  log(line: string): void;
}

/** The hub behind a gateway: it follows the configuration, and has a demo server while none is configured. */
export class ServedHub {
  readonly hub: Hub;
  readonly #options: ServedHubOptions;
  readonly #recorded: Disposable;
  #config: LoadedConfig;
  #gateway: LoopContext["gateway"];
  #watch: Promise<ConfigWatch> | undefined;
  #reloading: Promise<void> = Promise.resolve();
  #logins: Disposable | undefined;

  private constructor(hub: Hub, options: ServedHubOptions) {
    this.hub = hub;
    this.#options = options;
    this.#recorded = options.workspace.logs.record(hub);
    this.#config = options.config;
  }

  static async open(options: ServedHubOptions): Promise<ServedHub> {
    const { workspace, config, bundle, telemetry } = options;
    const own = await workspace.hubOptions(config);
    const serving = { ...own, ...servingOptions, start: false, telemetry };
    const hub = await createHub(chosen(config, bundle), serving);
    return new ServedHub(hub, options);
  }

  get telemetry(): Telemetry | undefined {
    return this.#options.telemetry;
  }

  get isDemo(): boolean {
    return this.#config.servers.size === 0;
  }

  /** Sets loops aside before anything starts: `gateway` is where clients reach us. */
  async prepare(gateway?: LoopContext["gateway"]): Promise<void> {
    this.#gateway = gateway;
    await this.#use(this.#config);
  }

  /**
   * Starts the servers, and follows the configuration. Rejects if a required server does not start. What cannot be
   * started is logged, unless it `isAnnounced` already.
   */
  async start({ isAnnounced }: { isAnnounced: boolean }): Promise<void> {
    const { log, workspace } = this.#options;
    const { hub } = this;
    hub.on("server-log", ({ server, message }) => server === "" && log(`warning: ${message}`));
    hub.on("issuer-chosen", ({ server, issuer, sends }) =>
      log(`${server}: its ${sends.join(" and ")} will be sent to ${issuer}, which the server named`),
    );
    const asked = new Set<string>();
    hub.on("question-asked", ({ kind, question, server }) => {
      // A client that comes back asks the same question again.
      if (kind !== "approve" || asked.has(question)) return;
      if (asked.size >= 10_000) asked.clear();
      asked.add(question);
      log(
        `${server}: a call waits for approval: plugboard approvals answer ${shellWord(question)} allow, or deny`,
      );
    });
    const announced = new Map(hub.status().map(({ name, message }) => [name, message]));
    const isNews = ({ name, state, message }: StatusRow) =>
      state !== "connecting" && (state !== "disabled" || !isAnnounced || announced.get(name) !== message);
    followChanges(hub, new StatusBoard(hub, { keepsTrying: true }), log, isNews)();
    this.#logins = awaitLogins(hub);
    const started = hub.start();
    // Heard of below, once the configuration is watched.
    started.catch(() => undefined);
    this.#watch = watchConfig(workspace, {
      current: this.#config,
      onChange: (changed) => {
        this.#reloading = this.#reloading
          .then(() => this.#follow(changed))
          .catch((error: unknown) => {
            log(`The configuration stays as it was: ${messageOf(error)}`);
          });
      },
      onProblem: (problem) =>
        log(
          problem === undefined
            ? "The configuration can be read again."
            : `The configuration stays as it was: ${problem}`,
        ),
    });
    await this.#watch;
    await started;
  }

  async close(): Promise<void> {
    this.#logins?.[Symbol.dispose]();
    // It may still be about to begin.
    const watch = await this.#watch?.catch(() => undefined);
    await watch?.close();
    await this.#reloading;
    await this.hub.close();
    this.#recorded[Symbol.dispose]();
  }

  async #follow(config: LoadedConfig): Promise<void> {
    const { log, check } = this.#options;
    check(config);
    const gatewayOf = ({ settings: { gateway, approvals } }: LoadedConfig) =>
      canonicalJson([gateway ?? {}, approvals?.queue === true]);
    if (gatewayOf(config) !== gatewayOf(this.#config))
      log("The gateway's own settings have changed: restart `plugboard serve` to use them.");
    const { added, removed, changed } = diffConfig(this.#config, config);
    const parts = Object.entries({ added, removed, changed: changed.map(({ name }) => name) });
    const words = parts.flatMap(([what, names]) => (names.length > 0 ? [`${what} ${names.join(", ")}`] : []));
    log(`The configuration has changed${words.length > 0 ? `: ${words.join("; ")}` : ""}.`);
    this.#config = config;
    await this.#use(config);
  }

  async #use(config: LoadedConfig): Promise<void> {
    const { workspace, bundle } = this.#options;
    const { env, folders } = workspace;
    const context = { env, folders, program: process.argv[1], gateway: this.#gateway };
    await this.hub.reload(chosen(setLoopsAside(config, context), bundle));
    if (config.servers.size > 0) return;
    await this.hub
      .add("demo", { server: createDemoServer() })
      .catch((error: unknown) => this.#options.log(`There is no demo: ${messageOf(error)}`));
  }
}

/** With a bundle, only its servers are needed. */
function chosen(config: LoadedConfig, bundle: string | undefined): LoadedConfig {
  if (bundle === undefined) return config;
  const members = config.bundles.get(bundle)?.config?.servers ?? [];
  return { ...config, servers: new Map([...config.servers].filter(([name]) => members.includes(name))) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
