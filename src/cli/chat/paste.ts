/** Stands for a line break in a line that is being edited. */
export const newlineMark = "\u21b5";

const start = "\u001b[200~";
const stop = "\u001b[201~";

/** Turns what is pasted into text for one line: it must not be sent at its first line break, nor act as keys. */
export class PasteReader {
  #isPasting = false;
  /** The beginning of what may become a mark. */
  #held = "";

  read(chunk: string): string {
    // Esc itself does nothing here. Before another key it would change that key.
    const isEscape = this.#held === "\u001b" && !chunk.startsWith("[") && !this.#isPasting;
    let text = isEscape ? chunk : this.#held + chunk;
    let result = "";
    this.#held = "";
    for (;;) {
      const mark = this.#isPasting ? stop : start;
      const at = text.indexOf(mark);
      if (at === -1) break;
      result += this.#part(text.slice(0, at));
      text = text.slice(at + mark.length);
      this.#isPasting = !this.#isPasting;
    }
    const held = this.#beginning(text);
    this.#held = text.slice(text.length - held);
    return result + this.#part(text.slice(0, text.length - held));
  }

  #part(text: string): string {
    if (!this.#isPasting) return text;
    return text
      .replaceAll(/\r\n?|\n/g, newlineMark)
      .replaceAll("\t", "  ")
      .replaceAll(/\p{Cc}/gu, "");
  }

  /** How many characters at the end may be the beginning of a mark. */
  #beginning(text: string): number {
    const mark = this.#isPasting ? stop : start;
    for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
      if (text.endsWith(mark.slice(0, length))) return length;
    return 0;
  }
}
