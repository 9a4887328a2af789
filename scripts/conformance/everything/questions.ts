import { checkCapabilities, type Call } from "./call.ts";
import { fieldsOf, type Fields } from "./wire.ts";

interface Asked {
  resolve(value: Fields): void;
  reject(error: Error): void;
}

/** The requests that a legacy server makes of its client. */
export class Questions {
  readonly #send: (message: Fields) => void;
  readonly #asked = new Map<unknown, Asked>();
  #count = 0;

  constructor(send: (message: Fields) => void) {
    this.#send = send;
  }

  async ask(
    questions: Parameters<Call["ask"]>[0],
    { can, signal }: Pick<Call, "can" | "signal">,
  ): Promise<Record<string, Fields>> {
    checkCapabilities(questions, can);
    const answers = Object.entries(questions).map(async ([key, question]) => {
      const id = `ask-${++this.#count}`;
      const answer = new Promise<Fields>((resolve, reject) => this.#asked.set(id, { resolve, reject }));
      signal.addEventListener("abort", () => this.answer({ id, error: { message: "cancelled" } }));
      this.#send({ id, ...question });
      return [key, await answer] as const;
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  answer({ id, result, error }: Fields): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (error === undefined) asked?.resolve(fieldsOf(result));
    else asked?.reject(new Error(`The client refused: ${String(fieldsOf(error)["message"])}`));
  }
}
