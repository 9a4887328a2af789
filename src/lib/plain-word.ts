/**
 * True for a word that is known to be harmless by its shape: a name, a package with its version, a path, a number, a
 * host. False for everything that may be a token, and for characters that such words do not contain.
 */
export function isPlainWord(word: string): boolean {
  if (!/^[\p{L}\p{M}\p{N}_@.,/\\:~*%^-]*$/u.test(word)) return false;
  if (tokenPrefix.test(word) || uuid.test(word)) return false;
  return word.split(/[/\\.,:@~*%^]/).every(isPlainPiece) && isPlainAfterColon(word);
}

const tokenPrefix = /(?:^|[/\\:@])(?:sk-|gh[posu]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|eyJ).{12}/;
const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;

/** True for a text that is a token of a well-known issuer, whatever it is called. */
export function isKnownToken(text: string): boolean {
  return tokenPrefix.test(text) && !/\s/.test(text.trim());
}

/** `node:20-alpine` and `localhost:80` are harmless, `ada:hunter2` is not. */
function isPlainAfterColon(word: string): boolean {
  const [, after = ""] = /^[^/\\:]+:([^/\\:]+)$/.exec(word) ?? [];
  return /^(?:v?\d.*|[\p{L}-]*)$/u.test(after);
}

function isPlainPiece(piece: string): boolean {
  const runs = piece.split(/[_-]+/);
  const mixed = runs.filter((run) => /\p{N}/u.test(run) && /\p{L}/u.test(run));
  const isLong = piece.length - runs.length >= 15;
  const isRandom = isLong && changesIn(piece) > 2 && /\p{Lu}/u.test(piece) && /\p{Ll}/u.test(piece);
  return runs.every(isPlainRun) && !isRandom && (mixed.length < 3 || piece.length < 20);
}

/** How often a letter and a digit are next to each other. */
function changesIn(text: string): number {
  return text.match(/\p{N}(?=\p{L})|\p{L}(?=\p{N})/gu)?.length ?? 0;
}

/** `wJalrXUtnFEMI`: as many capitals as other letters, in turn. `getUserById` and `GitHubMCPServer` are names. */
function isMixed(run: string): boolean {
  const count = (pattern: RegExp) => run.match(pattern)?.length ?? 0;
  const capitals = count(/\p{Lu}/gu);
  return capitals > run.length * 0.3 && capitals < run.length * 0.7 && count(/\p{Ll}(?=\p{Lu})/gu) >= 3;
}

/** Words have few changes between letters and digits; random ones have many, or are longer than any word. */
function isPlainRun(run: string): boolean {
  if (/^\p{N}*$/u.test(run)) return run.length <= 12;
  if (!/\p{N}/u.test(run)) return run.length <= 24 && !(run.length >= 12 && isMixed(run));
  if (run.length > 20 || (run.length >= 8 && changesIn(run) > 2)) return false;
  return run.length < 12 || !/\p{Lu}/u.test(run) || !/\p{Ll}/u.test(run);
}
