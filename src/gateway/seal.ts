import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** What a sealed text is for. One that was made for another purpose does not open. */
export type SealPurpose = "session" | "cursor" | "state" | "task";

/**
 * Makes texts that clients carry for us: they can neither read nor change them, and a text of one caller is worthless
 * to another. AES-256-GCM with purpose and caller as associated data.
 */
export class Seal {
  readonly #key: Buffer;

  /** The key has 32 bytes. Without one, what was sealed is worth nothing after this process. */
  constructor(key: Buffer = randomBytes(32)) {
    this.#key = key;
  }

  close(purpose: SealPurpose, caller: string, value: unknown): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(bound(purpose, caller));
    const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
  }

  /** Undefined for anything that was not sealed for this purpose and caller with this key. */
  open(purpose: SealPurpose, caller: string, text: unknown): unknown {
    if (typeof text !== "string" || text.length > 1_000_000 || !/^[\w-]{38,}$/.test(text)) return undefined;
    const bytes = Buffer.from(text, "base64url");
    // Another spelling of the same bytes is not what we gave out.
    if (bytes.toString("base64url") !== text) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, 12));
    decipher.setAAD(bound(purpose, caller)).setAuthTag(bytes.subarray(12, 28));
    try {
      const body = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
      return JSON.parse(body.toString("utf8"));
    } catch {
      return undefined;
    }
  }
}

function bound(purpose: SealPurpose, caller: string): Buffer {
  return Buffer.from(`${purpose}\0${caller}`);
}
