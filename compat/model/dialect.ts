import type { Conversation, Turn } from "./script.ts";

/** One provider's format: which requests are its own, what they say, and how a turn is answered. */
export interface Dialect<Body = unknown> {
  path: RegExp;
  read(body: Body, text: string): Conversation;
  write(turn: Turn, body: Body, path: string): Reply;
}

export type Reply =
  | { json: unknown }
  /** Server-sent events, named after their `type` if the provider names them. */
  | { events: Record<string, unknown>[]; named: boolean; done?: boolean };
