import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import type { ServerEntry } from "../config/model.ts";
import type { Store } from "../store/store.ts";
import type { EraMemory } from "./era.ts";

/** What is worth remembering about a server from one run to the next. */
export interface Remembered {
  era?: EraMemory;
  /** It has started at least once, so its launcher has nothing left to install. */
  hasStarted: boolean;
}

/** Keyed by what is started or contacted, not by a name: another program under the same name begins anew. */
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

/** The same for what a server shows: another account, variable or folder may show something else. */
export function entryFingerprint({
  written,
  baseDir,
  name,
}: Pick<ServerEntry, "written" | "baseDir" | "name">): string {
  return sha256(canonicalJson({ written, baseDir, name }));
}

/** Remembering is a convenience: when the store fails, a server is simply met for the first time again. */
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
