import type * as Prompts from "@clack/prompts";
import type { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { printable } from "../../lib/printable.ts";
import { discardTypeAhead } from "./type-ahead.ts";
import { displayWidth, wrapText } from "./text-width.ts";

/**
 * Asks a person. Each question resolves to `undefined` if the person cancels it (Esc, Ctrl-C) or the signal is
 * aborted. Texts may come from servers and files.
 */
export interface Ask {
  /** Columns of a line that `say` does not have to wrap. */
  readonly width: number;
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

/** Asks in the terminal. Draws on standard error, so standard output contains only the result. Ignores what was typed before. */
export function clackAsk(output: Writable, input: ReadStream): Ask {
  const load = () => import("@clack/prompts");
  /** Loads first: nothing that is typed while a question is prepared answers it. Undefined if the person cancels it. */
  const asked = async <T>(
    signal: AbortSignal,
    ask: (prompts: typeof Prompts, common: { output: Writable; signal: AbortSignal }) => Promise<T>,
  ): Promise<Exclude<T, symbol> | undefined> => {
    const prompts = await load();
    if (await discardTypeAhead(input)) return undefined;
    const answer = await whileAsked(signal, (own) => ask(prompts, { output, signal: own }));
    return typeof answer === "symbol" ? undefined : (answer as Exclude<T, symbol>);
  };
  return {
    get width() {
      return widthOf(output);
    },
    say: async (text) => (await load()).log.message(fitted(printable(text), output), { output }),
    text: ({ message, initial, example, check }, signal) =>
      asked(signal, async ({ text }, common) => {
        const answer = await text({
          message: printable(message),
          ...common,
          ...(initial !== undefined && { initialValue: printable(initial) }),
          ...(example !== undefined && { placeholder: printable(example) }),
          ...(check && { validate: (value: string | undefined) => printableProblem(check(value ?? "")) }),
        });
        return answer ?? "";
      }),
    password: ({ message }, signal) =>
      asked(
        signal,
        async ({ password }, common) =>
          (await password({ message: printable(message), mask: "", ...common })) ?? "",
      ),
    confirm: ({ message, initial = false }, signal) =>
      asked(signal, ({ confirm }, common) =>
        confirm({ message: printable(message), initialValue: initial, ...common }),
      ),
    choose: ({ message, choices, initial }, signal) =>
      asked(signal, ({ select }, common) =>
        select({
          message: printable(message),
          options: choices.map(printableChoice),
          ...common,
          ...(initial !== undefined && { initialValue: initial }),
        }),
      ),
    chooseMany: async ({ message, choices, initial = [], check }, signal) => {
      for (let chosen = initial; ;) {
        const answer = await asked(signal, ({ multiselect }, common) =>
          multiselect({
            message: printable(message),
            options: choices.map(printableChoice),
            initialValues: chosen,
            required: false,
            ...common,
          }),
        );
        if (answer === undefined) return undefined;
        const problem = printableProblem(check?.(answer));
        if (problem === undefined) return answer;
        (await load()).log.warn(problem, { output });
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

/**
 * Wraps long lines, which would lose the guide at their left. What continues a line is indented more than any line
 * that is near it, so that no text of others can look like a line of ours.
 */
function fitted(text: string, output: Writable): string {
  const width = widthOf(output);
  return text
    .split("\n")
    .flatMap((line) => {
      const [indent = ""] = /^ */.exec(line) ?? [];
      if (displayWidth(line) <= width || indent.length > width / 2) return [line];
      const room = width - indent.length - continuation.length;
      return wrapText(line.slice(indent.length), room).map(
        (piece, index) => `${indent}${index === 0 ? "" : continuation}${piece}`,
      );
    })
    .join("\n");
}

const continuation = "    ";

function widthOf({ columns = 80 }: Writable & { columns?: number }): number {
  return Math.max(20, columns - 4);
}

function printableProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : printable(problem);
}

/** The value stays as it is: it is the answer. */
function printableChoice({ value, label, hint }: Choice): Choice {
  return { value, label: printable(label), ...(hint !== undefined && { hint: printable(hint) }) };
}
