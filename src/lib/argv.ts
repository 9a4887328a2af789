/**
 * Splits a command line into words: spaces separate, single and double quotes group, and a backslash outside single
 * quotes makes the next character literal. No shell is involved: `|`, `;`, `$` and `*` are ordinary characters.
 */
export function splitArgv(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const character = line[i] ?? "";
    if (quote) {
      if (character === quote) quote = "";
      else if (character === "\\" && quote === '"' && i + 1 < line.length) word = (word ?? "") + line[++i];
      else word = (word ?? "") + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + (character === "\\" && i + 1 < line.length ? line[++i] : character);
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** The words of a command given as one string. A path alone may contain backslashes, as on Windows. */
export function commandWords(line: string): string[] {
  return /[\s"']/.test(line) ? splitArgv(line) : [line];
}

/** A command line that a shell and `splitArgv` split into these words. */
export function joinArgv(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/** Quotes a word for a shell if necessary (zsh expands a leading `=`). People copy hints into shells, and a project chooses its servers' names. */
export function shellWord(word: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
