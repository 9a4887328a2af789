import type { Ask } from "../../src/cli/terminal/ask.ts";

/** An answer to one question; `undefined` cancels it like Esc, and a bare newline accepts the prefilled value. */
export type FormAnswer = string | boolean | string[] | undefined;

/** Gives these answers in order, and the next one if an answer is rejected. `asked` records everything shown. */
export function scriptedAsk(answers: FormAnswer[], asked: string[]): Ask {
  const next = <T extends FormAnswer>(
    message: string,
    check?: (answer: T) => string | undefined,
    initial?: T,
  ) => {
    asked.push(message);
    while (answers.length > 0) {
      const given = answers.shift() as T | undefined;
      const answer = given === "\n" ? initial : given;
      const problem = answer === undefined ? undefined : check?.(answer);
      if (problem === undefined) return answer;
      asked.push(`! ${problem}`);
    }
    throw new Error(`nobody answers ${message}`);
  };
  const choices = (list: { label: string }[]) => ` [${list.map(({ label }) => label).join("|")}]`;
  return {
    width: 76,
    say: async (text) => void asked.push(text),
    text: async ({ message, initial, check }) => {
      return next<string>(initial === undefined ? message : `${message} <${initial}>`, check, initial);
    },
    password: async ({ message }) => next<string>(message),
    confirm: async ({ message }) => next<boolean>(message),
    choose: async ({ message, choices: list }) => next<string>(message + choices(list)),
    chooseMany: async ({ message, choices: list, check }) => next<string[]>(message + choices(list), check),
  };
}
