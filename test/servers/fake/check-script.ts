import type { Script, Step } from "./script.ts";

const delivery = ["id", "times", "everyMs", "cut", "chunkBytes", "chunkDelayMs"];

/** Every kind of step, with the fields that may stand beside it. */
const kinds: Record<string, string[]> = {
  default: delivery,
  answer: delivery,
  error: delivery,
  message: delivery,
  notify: delivery,
  request: [...delivery, "wait"],
  progress: ["everyMs"],
  raw: [...delivery, "to"],
  delayMs: [],
  waitFor: [],
  silent: [],
  set: [],
  exit: [],
  close: [],
  child: [],
  http: delivery,
  headers: [],
  drop: [],
};

/** A misspelt step would make a test pass for the wrong reason, so it is refused at once. */
export function checkScript(script: Partial<Script>): void {
  for (const step of script.start ?? []) checkStep(step);
  for (const rule of script.on ?? []) for (const step of rule.do) checkStep(step);
}

function checkStep(step: Step): void {
  const keys = Object.keys(step);
  const kind = keys.find((key) => kinds[key] !== undefined);
  const stray = keys.find((key) => key !== kind && !kinds[kind ?? ""]?.includes(key));
  if (kind === undefined || stray !== undefined) {
    throw new TypeError(
      `fake server: ${stray ?? "nothing"} is not understood in the step ${JSON.stringify(step)}`,
    );
  }
  if ("set" in step) checkScript(step.set);
}
