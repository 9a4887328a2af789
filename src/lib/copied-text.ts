/** The same text in memory of its own. A piece of a text keeps the whole text in memory; a copy does not. */
export function copiedText(piece: string): string {
  return JSON.parse(JSON.stringify(piece)) as string;
}
