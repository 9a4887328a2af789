/** JSON with sorted keys and no whitespace: equal values give equal text, regardless of key order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** A hash that says nothing about the text to those who do not have the key. */
export function hmac(key: Uint8Array, text: string): string {
  const { createHmac } = process.getBuiltinModule("node:crypto");
  return createHmac("sha256", key).update(text).digest("hex");
}

export function sha256(text: string): string {
  // Loaded lazily: loading the module takes a tenth of the run time of a command that hashes nothing.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex");
}
