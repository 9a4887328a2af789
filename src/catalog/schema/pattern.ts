import { createRequire } from "node:module";
import type * as Re2 from "re2js";
import type { Run } from "./run.ts";
import { simplePattern } from "./simple-pattern.ts";

/** True if a text contains a match, or if that is too expensive to find out. */
export type PatternTest = (text: string, run: Run) => boolean;

/** The budget for one pattern on one text; texts that would exceed it count as matching. */
const patternSteps = 250_000;

/**
 * Patterns come from servers, so none that could backtrack is run by the built-in engine. Simple patterns, which most
 * tools use, run in the built-in engine; the others run in RE2, which takes linear time. Patterns that RE2 does not
 * support (look-around, back references) cannot be checked, so they always match.
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

const maxLinearPatternLength = 2_000;

function compileLinear(source: string): Re2.RE2JS | undefined {
  if (source.length > maxLinearPatternLength) return undefined;
  // Loaded on demand, because it takes 15 ms and most tools do not need it.
  const { RE2JS } = createRequire(import.meta.url)("re2js") as typeof Re2;
  try {
    const translated = RE2JS.translateRegExp(source.replaceAll(/\\p\{(?:Script|sc)=(\w+)\}/gi, "\\p{$1}"));
    return RE2JS.compile(translated);
  } catch {
    return undefined;
  }
}
