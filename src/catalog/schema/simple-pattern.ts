export interface SimplePattern {
  test(text: string): boolean;
  /** The maximum number of times that each character is read. */
  tries: number;
}

/** A character, escape, class or dot, with an optional quantifier. Groups, alternatives and `\1` are not simple. */
const token =
  /(?:\\(?:u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|x[\da-fA-F]{2}|[pP]\{[\w=]+\}|[^upPxkbB1-9])|\[(?:\\.|[^\\\]])*\]|[^\\[\](){}|*+?^$])(?:(\?)|([*+])|\{(\d+)(?:(,)(\d*))?\})?\??/y;

/**
 * Accepts patterns that the built-in engine is certain to run in linear time: a sequence of characters, anchored at the
 * start, of which at most one may repeat a variable number of times. Returns undefined for all others.
 */
export function simplePattern(source: string): SimplePattern | undefined {
  if (source.length > 500) return undefined;
  const isAnchored = source.startsWith("^");
  const body = source.slice(isAnchored ? 1 : 0).replace(/(?<!\\)\$$/, "");
  const scan = new RegExp(token);
  let variable = 0;
  let branches = 1;
  /** What is matched again whenever the variable part or the start moves by one. */
  let repeated = isAnchored ? 0 : 1;
  while (scan.lastIndex < body.length) {
    const part = scan.exec(body);
    if (part === null) return undefined;
    const [, optional, unbounded, least, comma, most] = part;
    if (optional !== undefined) branches *= 2;
    else if (unbounded !== undefined || (comma !== undefined && least !== most)) variable++;
    else if (variable > 0 || !isAnchored) repeated += Number(least ?? 1);
  }
  const tries = branches * (1 + repeated);
  // Without an anchor the start itself is the variable part.
  if (variable > (isAnchored ? 1 : 0) || tries > 64) return undefined;
  const expression = compile(source, "u") ?? (/\\[pPu]/.test(source) ? undefined : compile(source, ""));
  return expression === undefined ? undefined : { test: (text) => expression.test(text), tries };
}

function compile(source: string, flags: string): RegExp | undefined {
  try {
    const expression = new RegExp(source, flags);
    // The engine compiles on first use, so trigger its errors here.
    expression.test("");
    return expression;
  } catch {
    return undefined;
  }
}
