/** A short hash of a text; equal texts have equal hashes. */
export function hashText(text: string): string {
  // Taken when needed: loading the module costs a command that hashes nothing a tenth of its time.
  return process.getBuiltinModule("node:crypto").hash("sha1", text, "base64url");
}

/** One hash for many, whatever their order. */
export function hashAll(hashes: readonly string[]): string {
  return hashText([...hashes].sort().join());
}

/** The hash of an entry that a server sent, and its size as JSON. */
export function hashEntry(entry: Record<string, unknown>): { hash: string; size: number } {
  try {
    const text = JSON.stringify(entry);
    return { hash: hashText(text), size: text.length };
  } catch {
    // Nested so deeply that it cannot be written. The guard sets it aside, and the list is not kept on disk.
    return { hash: hashText(`unwritable ${String(entry["name"])}`), size: Infinity };
  }
}
