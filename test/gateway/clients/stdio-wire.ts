import type { Readable, Writable } from "node:stream";
import type { Delivered, Wire } from "./wire.ts";

const delivered: Delivered = { status: 200, headers: new Headers(), body: "" };

/** One line for each message. */
export class StdioWire implements Wire {
  readonly transport = "stdio";
  onMessage: Wire["onMessage"] = () => {};
  readonly #input: Writable;
  readonly #output: Readable;

  /** `input` is the server's standard input, `output` its standard output. */
  constructor(input: Writable, output: Readable) {
    this.#input = input;
    this.#output = output;
    input.on("error", () => {});
    let rest = "";
    // Not by `readline`, which takes U+2028 for the end of a line.
    output.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.onMessage(line, "pipe", 200);
    });
  }

  async send(text: string): Promise<Delivered> {
    this.#input.write(`${text}\n`);
    return delivered;
  }

  async openStanding(): Promise<Delivered> {
    return delivered;
  }

  async close(): Promise<void> {
    this.#input.end();
  }

  /** Like a program that was killed: both pipes end. */
  disconnect(): void {
    this.#input.end();
    this.#output.destroy();
  }
}
