import { printable } from "../../../lib/printable.ts";

/**
 * Makes the model's words safe for a screen, piece by piece: nothing of them is a colour or moves the cursor. What may
 * be half of a character or of a line break waits for the next piece.
 */
export class ModelWords {
  #held = "";

  take(piece: string): string {
    const whole = this.#held + piece;
    this.#held = /[\r\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
    return shown(whole.slice(0, whole.length - this.#held.length));
  }

  /** What was still waiting when no other piece comes. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return shown(rest);
  }
}

function shown(text: string): string {
  return printable(text.replaceAll("\r\n", "\n"));
}
