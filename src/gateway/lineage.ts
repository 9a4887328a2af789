import { randomUUID } from "node:crypto";
import type { Hub } from "../index.ts";
import { isRecord } from "../lib/record.ts";
import { serverInfo } from "./endpoint.ts";

/** Where a gateway says which gateways its servers are behind: its own, and those of its servers. */
export const gatewaysKey = "plugboard/gateways";

/** More than anybody chains on purpose. */
const maxGateways = 64;

/**
 * Notices gateways that are servers of each other: each would list the other's tools as its own, and those again,
 * without end. Each has a random id and tells, with what is behind it, whoever connects.
 */
export class Lineage {
  readonly #hub: Hub;
  readonly #own = randomUUID();
  readonly #behind = new Map<string, readonly string[]>();
  readonly #onLoop: (server: string) => void;
  readonly #stop: (() => void)[];

  constructor(hub: Hub, onLoop: (server: string) => void) {
    this.#hub = hub;
    this.#onLoop = onLoop;
    this.#stop = [
      hub.on("connection-changed", ({ server, to }) => {
        if (to === "connected") this.#look(server);
        else this.#behind.delete(server);
      }),
      // What is behind a gateway may have changed with its tools.
      hub.on("catalog-changed", ({ server, kind }) => void (kind === "tools" && this.#look(server))),
    ];
    for (const { name, state } of hub.status()) if (state === "connected") this.#look(name);
  }

  /** This gateway's id, and those of all gateways behind it. */
  ids(): string[] {
    return [...new Set([this.#own, ...[...this.#behind.values()].flat()])].slice(0, maxGateways);
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #look(server: string): void {
    const report = this.#hub.status().find(({ name }) => name === server);
    if (report?.serverInfo?.["name"] !== serverInfo.name || report.era !== "modern") return;
    this.#hub.request("server/discover", {}, { server }).then(
      (answer) => {
        const meta = "result" in answer ? answer.result["_meta"] : undefined;
        const ids = isRecord(meta) ? meta[gatewaysKey] : undefined;
        const known = Array.isArray(ids)
          ? ids.filter((id) => typeof id === "string").slice(0, maxGateways)
          : [];
        if (known.includes(this.#own)) this.#onLoop(server);
        else this.#behind.set(server, known);
      },
      // It is gone, or is none of ours after all.
      () => undefined,
    );
  }
}
