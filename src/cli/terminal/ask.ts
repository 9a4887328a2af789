import type { Writable } from "node:stream";
import type { ReadStream } from "node:tty";
import { printable } from "../../lib/printable.ts";
import { discardTypeAhead } from "./type-ahead.ts";

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

/** Asks in the terminal. Draws on standard error, so standard output contains only the result. Ignores what was typed before. */
export function clackAsk(output: Writable, input: ReadStream): Ask {
  const load = () => import("@clack/prompts");
  /** Loads first: nothing that is typed while a question is prepared answers it. Undefined after Ctrl-C. */
  const ready = async () => {
    const prompts = await load();
    return (await discardTypeAhead(input)) ? undefined : prompts;
  };
  return {
    say: async (text) => (await load()).log.message(printable(text), { output }),
    text: async ({ message, initial, example, check }, signal) => {
      const prompts = await ready();
      const answer = await prompts?.text({
        message: printable(message),
        output,
        signal,
        ...(initial !== undefined && { initialValue: printable(initial) }),
        ...(example !== undefined && { placeholder: printable(example) }),
        ...(check && { validate: (value) => printableProblem(check(value ?? "")) }),
      });
      return !prompts || typeof answer === "symbol" ? undefined : (answer ?? "");
    },
    password: async ({ message }, signal) => {
      const prompts = await ready();
      const answer = await prompts?.password({ message: printable(message), output, signal, mask: "" });
      return !prompts || typeof answer === "symbol" ? undefined : (answer ?? "");
    },
    confirm: async ({ message, initial = false }, signal) => {
      const prompts = await ready();
      const answer = await prompts?.confirm({
        message: printable(message),
        initialValue: initial,
        output,
        signal,
      });
      return typeof answer === "symbol" ? undefined : answer;
    },
    choose: async ({ message, choices, initial }, signal) => {
      const prompts = await ready();
      const answer = await prompts?.select({
        message: printable(message),
        options: choices.map(printableChoice),
        output,
        signal,
        ...(initial !== undefined && { initialValue: initial }),
      });
      return typeof answer === "symbol" ? undefined : answer;
    },
    chooseMany: async ({ message, choices, initial = [], check }, signal) => {
      for (let chosen = initial; ;) {
        const prompts = await ready();
        const answer = await prompts?.multiselect({
          message: printable(message),
          options: choices.map(printableChoice),
          initialValues: chosen,
          required: false,
          output,
          signal,
        });
        if (!prompts || !answer || typeof answer === "symbol") return undefined;
        const problem = printableProblem(check?.(answer));
        if (problem === undefined) return answer;
        prompts.log.warn(problem, { output });
        chosen = answer;
      }
    },
  };
}

function printableProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : printable(problem);
}

/** The value stays as it is: it is the answer. */
function printableChoice({ value, label, hint }: Choice): Choice {
  return { value, label: printable(label), ...(hint !== undefined && { hint: printable(hint) }) };
}
