import { isPlainWord } from "../../lib/plain-word.ts";
import { hidden } from "../../lib/secret-words.ts";

/** Stands for a `${…}` while the text around it is judged. */
export const mark = "\u{e000}";

/** Hides what is around the marks, except for the word before a credential that says what kind it is. */
export function hide(marked: string): string {
  const pieces = marked.split(mark);
  return pieces
    .map((piece, index) => {
      const isKind = index < pieces.length - 1 && /^(?:Bearer|Basic|Token|ApiKey) +$/i.test(piece);
      return isKind || piece.trim() === "" ? piece : hidden;
    })
    .join(mark);
}

/** Shows the pieces around the marks that are harmless words. */
export function showPlain(marked: string): string {
  return marked
    .split(mark)
    .map((piece) => (isPlainWord(piece) ? piece : hidden))
    .join(mark);
}
