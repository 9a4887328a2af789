import { createRequire } from "node:module";
import type * as Re2 from "re2js";
import type { Run } from "./run.ts";
import { simplePattern } from "./simple-pattern.ts";

/** Whether a text contains a match. True also when that cannot be found out cheaply: a doubt is not a mistake. */
export type PatternTest = (text: string, run: Run) => boolean;

/** One pattern on one text may spend this much; longer texts are taken as matching. */
const patternSteps = 250_000;

/**
 * Patterns come from servers, so a backtracking engine never sees one that could make it backtrack. The plain ones
 * that most tools write go to the built-in engine, the others to RE2, which takes linear time; what RE2 cannot
 * express (look-around, back references) cannot be checked and therefore matches.
 */
export function compilePattern(source: string): PatternTest {
  const simple = simplePattern(source);
  if (simple !== undefined) {
    return (text, run) => {
      run.spend(1 + Math.ceil((text.length * simple.tries) / 16));
      return simple.test(text);
    };
  }
  let expression: Re2.RE2JS | undefined;
  let isKnown = true;
  return (text, run) => {
    if (!isKnown) return true;
    if (expression === undefined) {
      run.spend(2_000);
      expression = compileLinear(source);
      isKnown = expression !== undefined;
      if (expression === undefined) return true;
    }
    const cost = 3 * text.length * expression.programSize();
    if (cost > patternSteps) return true;
    run.spend(1 + cost);
    return expression.test(text);
  };
}

const longestLinearPattern = 2_000;

function compileLinear(source: string): Re2.RE2JS | undefined {
  if (source.length > longestLinearPattern) return undefined;
  // Loaded only when a schema needs it: most tools have no pattern that does, and it takes 15 ms.
  const { RE2JS } = createRequire(import.meta.url)("re2js") as typeof Re2;
  try {
    const translated = RE2JS.translateRegExp(source.replaceAll(/\\p\{(?:Script|sc)=(\w+)\}/gi, "\\p{$1}"));
    return RE2JS.compile(translated);
  } catch {
    return undefined;
  }
}
