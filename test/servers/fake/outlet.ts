import type { HttpAnswer } from "./script.ts";

/** Where the answer to one message goes: a pipe, an HTTP answer, or the event stream of the old HTTP+SSE transport. */
export interface Outlet {
  /** Tells connections (or sessions) apart that use the same ids. */
  readonly scope: string;
  /** Called before the steps; `scripted` if one of them is about HTTP itself. */
  begin(scripted: boolean): void;
  /** Makes one message ready for the wire and begins the answer; `streaming` if it is not the only one. */
  frame(message: unknown, streaming: boolean): Buffer;
  write(bytes: Buffer, to: "output" | "stderr" | "socket"): Promise<void>;
  /** Nothing more will be said about this message. */
  finish(): void;
  close(what: "output" | "input"): void;
  exit(how: number | NodeJS.Signals): void;
  child(ms: number): void | Promise<void>;
  /** Over HTTP: what the head of the answer will say. */
  head(status: number | undefined, headers: Record<string, string | string[]>): void;
  /** Over HTTP: begins an answer that is not MCP. */
  open(answer: HttpAnswer, bytes: number, encoding: string | undefined): void;
  drop(how: "fin" | "reset"): void;
}
