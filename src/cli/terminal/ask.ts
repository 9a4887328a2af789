import type { Writable } from "node:stream";
import { printable } from "../../lib/printable.ts";
import { displayWidth, wrapText } from "./text-width.ts";

/**
 * Asks a person. Each question resolves to `undefined` if the person cancels it (Esc, Ctrl-C) or the signal is
 * aborted. Texts may come from servers and files.
 */
export interface Ask {
  /** Shows text before the next question. */
  say(text: string): Promise<void>;
  text(question: TextQuestion, signal: AbortSignal): Promise<string | undefined>;
  /** Like `text`, but hides the input. */
  password(question: { message: string }, signal: AbortSignal): Promise<string | undefined>;
  confirm(
    question: { message: string; initial?: boolean },
    signal: AbortSignal,
  ): Promise<boolean | undefined>;
  choose(
    question: { message: string; choices: Choice[]; initial?: string },
    signal: AbortSignal,
  ): Promise<string | undefined>;
  chooseMany(
    question: { message: string; choices: Choice[]; initial?: string[]; check?: Check<string[]> },
    signal: AbortSignal,
  ): Promise<string[] | undefined>;
}

export interface TextQuestion {
  message: string;
  /** Prefilled answer. */
  initial?: string;
  /** Placeholder. */
  example?: string;
  check?: Check<string>;
}

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** Returns what is wrong with an answer, if anything. */
export type Check<T> = (answer: T) => string | undefined;

/** Asks in the terminal. Draws on standard error, so standard output contains only the result. */
export function clackAsk(output: Writable): Ask {
  const load = () => import("@clack/prompts");
  return {
    say: async (text) => (await load()).log.message(fitted(printable(text), output), { output }),
    text: async ({ message, initial, example, check }, signal) => {
      const { text } = await load();
      const question = {
        message: printable(message),
        output,
        ...(initial !== undefined && { initialValue: printable(initial) }),
        ...(example !== undefined && { placeholder: printable(example) }),
        ...(check && { validate: (value: string | undefined) => printableProblem(check(value ?? "")) }),
      };
      const answer = await whileAsked(signal, (own) => text({ ...question, signal: own }));
      return typeof answer === "symbol" ? undefined : (answer ?? "");
    },
    password: async ({ message }, signal) => {
      const { password } = await load();
      const question = { message: printable(message), output, mask: "" };
      const answer = await whileAsked(signal, (own) => password({ ...question, signal: own }));
      return typeof answer === "symbol" ? undefined : (answer ?? "");
    },
    confirm: async ({ message, initial = false }, signal) => {
      const { confirm } = await load();
      const question = { message: printable(message), initialValue: initial, output };
      const answer = await whileAsked(signal, (own) => confirm({ ...question, signal: own }));
      return typeof answer === "symbol" ? undefined : answer;
    },
    choose: async ({ message, choices, initial }, signal) => {
      const { select } = await load();
      const question = {
        message: printable(message),
        options: choices.map(printableChoice),
        output,
        ...(initial !== undefined && { initialValue: initial }),
      };
      const answer = await whileAsked(signal, (own) => select({ ...question, signal: own }));
      return typeof answer === "symbol" ? undefined : answer;
    },
    chooseMany: async ({ message, choices, initial = [], check }, signal) => {
      const { multiselect, log } = await load();
      for (let chosen = initial; ;) {
        const question = {
          message: printable(message),
          options: choices.map(printableChoice),
          initialValues: chosen,
          required: false,
          output,
        };
        const answer = await whileAsked(signal, (own) => multiselect({ ...question, signal: own }));
        if (typeof answer === "symbol") return undefined;
        const problem = printableProblem(check?.(answer));
        if (problem === undefined) return answer;
        log.warn(problem, { output });
        chosen = answer;
      }
    },
  };
}

/** Clack ends its line once more when its signal is aborted after the answer, in the middle of what is drawn by then. */
async function whileAsked<T>(signal: AbortSignal, ask: (own: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const abort = () => own.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await ask(own.signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Wraps long lines, which would lose the guide at their left. What continues a line is indented like it. */
function fitted(text: string, output: Writable & { columns?: number }): string {
  const width = Math.max(20, (output.columns ?? 80) - 4);
  return text
    .split("\n")
    .flatMap((line) => {
      const [indent = ""] = /^ */.exec(line) ?? [];
      if (displayWidth(line) <= width || indent.length > width / 2) return [line];
      return wrapText(line.slice(indent.length), width - indent.length).map((piece) => indent + piece);
    })
    .join("\n");
}

function printableProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : printable(problem);
}

/** The value stays as it is: it is the answer. */
function printableChoice({ value, label, hint }: Choice): Choice {
  return { value, label: printable(label), ...(hint !== undefined && { hint: printable(hint) }) };
}
