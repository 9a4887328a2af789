export function hashText(text: string): string {
  // Loaded on demand: loading the module takes a tenth of the run time of a command that hashes nothing.
  return process.getBuiltinModule("node:crypto").hash("sha1", text, "base64url");
}

/** Combines hashes into one that does not depend on their order. */
export function hashAll(hashes: readonly string[]): string {
  return hashText([...hashes].sort().join());
}

/** The hash of an entry that a server sent, and its size as JSON. */
export function hashEntry(entry: Record<string, unknown>): { hash: string; size: number } {
  try {
    const text = JSON.stringify(entry);
    return { hash: hashText(text), size: text.length };
  } catch {
    // Nested too deeply to serialize. The guard sets the tool aside, and the list is not saved to disk.
    return { hash: hashText(`unwritable ${String(entry["name"])}`), size: Infinity };
  }
}
