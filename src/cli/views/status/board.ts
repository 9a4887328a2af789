import { errorTable } from "../../../host.ts";
import { isPlugboardError } from "../../../index.ts";
import type { ServerEntry } from "../../../config.ts";
import type { ErrorSummary } from "../../../host.ts";
import type { Hub, LoadedConfig, ServerReport } from "../../../index.ts";
import { countTools } from "./count-tools.ts";
import { transportOf } from "../server.ts";

/** One server in `status`. `via` is set even before it is connected. */
export interface StatusRow extends ServerReport {
  via: string;
  toolCount?: number;
}

/** How often a count is awaited that a server keeps restarting. */
const maxCounts = 5;

/** Connects a hub's servers and tracks what to show about them. */
export class StatusBoard {
  /** Called with a server's name whenever its row may have changed. */
  onChange: (server: string) => void = () => undefined;
  readonly #hub: Hub;
  readonly #keepsTrying: boolean;
  /** Each server's tool count or error, or the pending request. */
  readonly #tools = new Map<string, number | ErrorSummary | Promise<void>>();

  constructor(hub: Hub, { keepsTrying }: { keepsTrying: boolean }) {
    this.#hub = hub;
    this.#keepsTrying = keepsTrying;
    hub.on("connection-changed", ({ server, from, to }) => {
      if (to === "connected" && from === "connecting") this.#count(server, { isNew: true });
      else if (to !== "connected" && to !== "degraded") this.#tools.delete(server);
      this.onChange(server);
    });
    hub.on(
      "catalog-changed",
      ({ server, kind }) => kind === "tools" && this.#count(server, { isNew: false }),
    );
  }

  entry(name: string): ServerEntry | undefined {
    return this.#hub.config.servers.get(name);
  }

  rows(): StatusRow[] {
    return this.#hub.status().map((current) => {
      const report = this.#keepsTrying ? current : withoutRetry(current);
      const entry = this.entry(report.name);
      const tools = this.#tools.get(report.name);
      const row = { ...report, via: report.transport ?? (entry ? transportOf(entry) : "?") };
      if (typeof tools === "number") return { ...row, toolCount: tools };
      if (report.state !== "connected" || !tools || tools instanceof Promise) return row;
      const { message, hint } = tools;
      return { ...row, state: "degraded", error: tools, message, ...(hint !== undefined && { hint }) };
    });
  }

  /** Connects every usable server that is idle. Resolves when each has connected or failed. */
  async connect(): Promise<void> {
    const idle = this.#hub.status().filter(({ state }) => state === "ready");
    await Promise.all(
      idle.map(async ({ name }) => {
        await this.#hub.connect(name).catch(() => undefined);
        // Some servers announce a changed list right after they connect, which restarts the count.
        for (let counts = 0; counts < maxCounts && this.#tools.get(name) instanceof Promise; counts++)
          await this.#tools.get(name);
      }),
    );
  }

  /** Applies a new configuration. */
  async reload(config: LoadedConfig): Promise<void> {
    await this.#hub.reload(config);
    this.onChange("");
    void this.connect();
  }

  #count(server: string, { isNew }: { isNew: boolean }): void {
    const pending: Promise<void> = this.#ask(server, isNew).then((outcome) => {
      // Ignore the answer if a later request replaced this one or the connection ended.
      if (this.#tools.get(server) !== pending) return;
      this.#tools.set(server, outcome);
      this.onChange(server);
    });
    this.#tools.set(server, pending);
  }

  async #ask(server: string, isNew: boolean): Promise<number | ErrorSummary> {
    const report = this.#hub.status().find(({ name }) => name === server);
    if (!report?.capabilities?.["tools"]) return 0;
    try {
      return await countTools(this.#hub, server, { isNew });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!isPlugboardError(error)) return { code: "internal", message };
      return { code: error.code, message, hint: error.hint, ...(error.data && { data: error.data }) };
    }
  }
}

/** Without retries, a server that waits for one has failed. */
function withoutRetry(report: ServerReport): ServerReport {
  const { retryAt, ...rest } = report;
  return retryAt === undefined ? report : { ...rest, state: "failed" };
}

export function isConnected({ state }: StatusRow): boolean {
  return state === "connected";
}

/** True for a server that somebody has to repair, and that nobody keeps from being used on purpose. */
export function isBroken(row: StatusRow): boolean {
  if (row.state !== "disabled") return !isConnected(row);
  return row.disabledReason === "invalid" || row.disabledReason === "missing-value";
}

/** 0 if every server that should work is connected, otherwise the exit code of the first failure. */
export function exitCodeOf(rows: readonly StatusRow[]): number {
  const first = rows.find(isBroken);
  if (!first) return 0;
  const code = first.state === "disabled" ? "config-invalid" : (first.error?.code ?? "not-responding");
  return errorTable[code].exitCode;
}
