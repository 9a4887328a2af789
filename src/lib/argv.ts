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

/** A command line for pasting into a shell, which fills in `${VAR}` like Plugboard does. */
export function pastedArgv(words: readonly string[]): string {
  return words.map(pastedWord).join(" ");
}

function pastedWord(word: string): string {
  const variable = /(\$\{[A-Za-z_]\w*\})/;
  if (!variable.test(word) || word.includes("$${")) return shellWord(word);
  const pieces = word.split(variable).filter((piece) => piece !== "");
  const isPlain = pieces.every((piece) => variable.test(piece) || /^[\w@%+=:,./ -]+$/.test(piece));
  // Anything else stays in single quotes: a configuration must not put commands into the line.
  return isPlain
    ? `"${word}"`
    : pieces.map((piece) => (variable.test(piece) ? `"${piece}"` : shellWord(piece))).join("");
}

/** Quotes a word for a shell if necessary (zsh expands a leading `=`). People copy hints into shells, and a project chooses its servers' names. */
export function shellWord(word: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
