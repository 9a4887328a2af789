import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scrypt } from "node:crypto";

/** Encrypted under AES-256-GCM; everything in base64. */
export interface Sealed {
  nonce: string;
  /** The ciphertext, followed by the tag. */
  data: string;
}

const version = "plugboard-vault-1";
const tagBytes = 16;

/** Identifies a record without revealing its name. */
export function recordId(name: string): string {
  return createHash("sha256").update(`${version}|${name}`).digest("hex");
}

export function recordsCheck(ids: string[]): string {
  return createHash("sha256").update(ids.sort().join()).digest("base64url");
}

/** Uses a new random 96-bit nonce each time. `boundTo` is authenticated too: the text opens only with the same value. */
export function seal(key: Buffer, boundTo: string, text: string): Sealed {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(`${version}|${boundTo}`));
  const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return { nonce: nonce.toString("base64"), data: data.toString("base64") };
}

/** Undefined if the key, `boundTo` or the content does not match. */
export function unseal(key: Buffer, boundTo: string, sealed: Sealed): string | undefined {
  try {
    const data = Buffer.from(sealed.data, "base64");
    const nonce = Buffer.from(sealed.nonce, "base64");
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(`${version}|${boundTo}`));
    decipher.setAuthTag(data.subarray(-tagBytes));
    return Buffer.concat([decipher.update(data.subarray(0, -tagBytes)), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

/** Distinguishes a wrong key from a damaged record, and reveals nothing else about the key. */
export function keyCheck(key: Buffer, keyId: string): string {
  return createHmac("sha256", key).update(`${version}|check|${keyId}`).digest("base64url");
}

export function newKey(): { id: string; key: Buffer } {
  return { id: randomBytes(8).toString("hex"), key: randomBytes(32) };
}

export function newSalt(): string {
  return randomBytes(16).toString("base64");
}

/** Deliberately takes about half a second and 128 MB. */
export function keyFromPassphrase(passphrase: string, salt: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
  scrypt(passphrase.normalize("NFC"), Buffer.from(salt, "base64"), 32, cost, (error, key) =>
    error ? reject(error) : resolve(key),
  );
  return promise;
}
