import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import type { ServerEntry } from "../config/model.ts";
import type { Store } from "../store/store.ts";
import type { EraMemory } from "./era.ts";

/** What is remembered about a server between runs. */
export interface Remembered {
  era?: EraMemory;
  /** True if it has started at least once, so its launcher has nothing left to install. */
  hasStarted: boolean;
}

/** Depends on the program or URL, not the name: another program under the same name starts without memory. */
export function serverFingerprint({
  written,
  baseDir,
  name,
}: Pick<ServerEntry, "written" | "baseDir" | "name">): string {
  const { command, args, url, type } = isRecord(written) ? written : {};
  return sha256(
    canonicalJson({
      command,
      args,
      url,
      type,
      baseDir,
      ...(command === undefined && url === undefined && { name }),
    }),
  );
}

/** Also depends on the account, variables and folder, because the server's lists may depend on them. */
export function entryFingerprint({
  written,
  baseDir,
  name,
}: Pick<ServerEntry, "written" | "baseDir" | "name">): string {
  return sha256(canonicalJson({ written, baseDir, name }));
}

/** Optional: if the store fails, the server is treated as new. */
export class ServerMemory {
  readonly #store: () => Promise<Store>;

  constructor(store: () => Promise<Store>) {
    this.#store = store;
  }

  async recall(fingerprint: string): Promise<Remembered> {
    try {
      const value = (await (await this.#store()).get(key(fingerprint)))?.value;
      if (!isRecord(value)) return { hasStarted: false };
      const era = isEraMemory(value["era"]) ? { era: value["era"] } : {};
      return { hasStarted: value["hasStarted"] === true, ...era };
    } catch {
      return { hasStarted: false };
    }
  }

  async remember(fingerprint: string, remembered: Remembered): Promise<void> {
    try {
      await (await this.#store()).set(key(fingerprint), remembered, { ttlMs: 90 * 86_400_000 });
    } catch {
      // See above.
    }
  }
}

function key(fingerprint: string): string {
  return `server/${fingerprint}`;
}

function isEraMemory(value: unknown): value is EraMemory {
  if (!isRecord(value)) return false;
  const isEra = value["era"] === "modern" || value["era"] === "legacy";
  return (
    isEra &&
    ["answer", "exit", "silence"].includes(String(value["basis"])) &&
    typeof value["silences"] === "number"
  );
}
