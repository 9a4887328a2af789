import { defaultProfile } from "../auth/oauth/record.ts";
import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { isRecord } from "../lib/record.ts";
import type { ServerEntry } from "../config/model.ts";
import type { Store } from "../store/store.ts";
import type { ConnectionKey } from "./connection-key.ts";
import type { EraMemory } from "./era.ts";

/** What is remembered about a server between runs. */
export interface Remembered {
  era?: EraMemory;
  /** True if it has started at least once, so its launcher has nothing left to install. */
  hasStarted: boolean;
  introduction?: RememberedIntroduction;
}

/** What a server says may depend on the account, variables and folder: it holds for this entry only. */
type RememberedIntroduction = Introduction & { entry: string };

/** What a server says about itself when it connects. */
export interface Introduction {
  capabilities: Record<string, unknown>;
  instructions?: string;
  /** Why a lock file keeps its instructions back. */
  instructionsWithheld?: string;
}

/** Longer introductions are not remembered. */
const maxIntroduction = 64_000;

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

/** Also depends on the account and folder of a connection. */
export function connectionFingerprint(
  entry: ServerEntry,
  { account, project }: Pick<ConnectionKey, "account" | "project">,
): string {
  const plain = entryFingerprint(entry);
  const isWritten = account === undefined || account === (entry.config?.oauth?.profile ?? defaultProfile);
  if (isWritten && project === undefined) return plain;
  return sha256(canonicalJson({ entry: plain, profile: isWritten ? undefined : account, project }));
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
      const { introduction } = value;
      const said = isIntroduction(introduction) ? { introduction } : {};
      return { hasStarted: value["hasStarted"] === true, ...era, ...said };
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

/** What is worth remembering of what a server said. */
export function introductionOf(
  { capabilities, instructions }: Introduction,
  entry: string,
): { introduction?: RememberedIntroduction } {
  const introduction = { entry, capabilities, ...(instructions !== undefined && { instructions }) };
  return JSON.stringify(introduction).length <= maxIntroduction ? { introduction } : {};
}

function isIntroduction(value: unknown): value is RememberedIntroduction {
  if (!isRecord(value) || !isRecord(value["capabilities"]) || typeof value["entry"] !== "string")
    return false;
  return value["instructions"] === undefined || typeof value["instructions"] === "string";
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
