import { splitArgv } from "../../lib/argv.ts";

/** A line up to the cursor, as bash has it. */
export interface BashLine {
  /** The words after the program's name, without quotes. The last one is being typed and may be empty. */
  words: string[];
  /** Candidates for the last word as bash inserts them. */
  inserted(candidates: readonly string[]): string[];
}

/**
 * Reads a line that bash wants completed. Bash ends words also at `=` and `:`, and replaces only the text after the last
 * of them or after an open quote: `replaced`.
 */
export function readBashLine(line: string, replaced: string): BashLine {
  const kept = line.endsWith(replaced) ? line.slice(0, line.length - replaced.length) : line;
  const { length } = wordsUpTo(kept).at(-1) ?? "";
  const quote = openQuote(kept);
  return {
    words: wordsUpTo(line).slice(1),
    inserted: (candidates) => candidates.flatMap((candidate) => quoted(candidate.slice(length), quote) ?? []),
  };
}

/** With a mark at the end, the last word is there even if it is empty or its quote is open. */
function wordsUpTo(line: string): string[] {
  const words = splitArgv(`${line}|`);
  return [...words.slice(0, -1), (words.at(-1) ?? "").slice(0, -1)];
}

function openQuote(line: string): string | undefined {
  const isOpen = splitArgv(`${line} |`).at(-1) !== "|";
  return isOpen ? line.at(-1) : undefined;
}

/** Backslashes instead of quotes: bash inserts what all candidates begin with. */
function quoted(text: string, quote: string | undefined): string | undefined {
  if (quote === "'") return text.includes("'") ? undefined : text;
  // An exclamation mark cannot be escaped within double quotes.
  if (quote === '"') return text.includes("!") ? undefined : text.replaceAll(/["$\\`]/g, String.raw`\$&`);
  return text.replaceAll(/[^\w@%+=:,./\u0080-\u{10ffff}-]/gu, String.raw`\$&`);
}
