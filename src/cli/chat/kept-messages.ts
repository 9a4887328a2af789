import type { ModelMessage } from "ai";
import { isRecord } from "../../lib/record.ts";

/** What is kept of a conversation, and what was left out of it. */
export interface KeptMessages {
  messages: ModelMessage[];
  /** True if long texts were shortened. */
  isCut: boolean;
  /** True if the first turns are gone. */
  isShort: boolean;
}

const shortestText = 1000;

/**
 * The messages to keep on disk: no media, and at most `maxCharacters`. A turn that is longer than half of them has its
 * longest texts cut, so that it does not push out all others; then the first turns go.
 */
export function keptMessages(messages: readonly ModelMessage[], maxCharacters: number): KeptMessages {
  const whole = messages.map((message) => withoutMedia(message) as ModelMessage);
  const turns = turnsOf(whole).map((turn) => fitTurn(turn, maxCharacters / 2));
  const kept: ModelMessage[][] = [];
  let size = 0;
  for (const { messages: turn, size: own } of turns.toReversed()) {
    size += own;
    if (size > maxCharacters) break;
    kept.unshift(turn);
  }
  const isCut = turns.slice(-kept.length).some((turn) => turn.isCut);
  return { messages: kept.flat(), isCut, isShort: kept.length < turns.length };
}

/** A turn begins with what the person says. */
function turnsOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  const turns: ModelMessage[][] = [];
  for (const message of messages) {
    const turn = turns.at(-1);
    if (!turn || (message.role === "user" && turn.at(-1)?.role !== "user")) turns.push([message]);
    else turn.push(message);
  }
  return turns;
}

function fitTurn(turn: ModelMessage[], maxCharacters: number) {
  let fitted = turn;
  let size = sizeOf(turn);
  for (let longest = maxCharacters / 2; size > maxCharacters && longest >= shortestText; longest /= 2) {
    fitted = withShortTexts(turn, Math.floor(longest)) as ModelMessage[];
    size = sizeOf(fitted);
  }
  if (size > maxCharacters) {
    const text = "(This turn was too long to be kept.)";
    fitted = [
      { role: "user", content: text },
      { role: "assistant", content: text },
    ];
    size = sizeOf(fitted);
  }
  return { messages: fitted, size, isCut: fitted !== turn };
}

function sizeOf(messages: readonly ModelMessage[]): number {
  return JSON.stringify(messages).length;
}

function withShortTexts(value: unknown, longest: number): unknown {
  if (typeof value === "string")
    return value.length <= longest
      ? value
      : `${value.slice(0, longest)} … (${value.length - longest} more characters were not kept)`;
  return mapMembers(value, (member) => withShortTexts(member, longest));
}

const media = /^(?:file|image|media|audio)(?:-(?:data|url|id))?$/;

/** Media are large, and their files were saved when they came. */
function withoutMedia(value: unknown): unknown {
  const { type, mediaType } = isRecord(value) ? value : {};
  if (typeof type === "string" && media.test(type))
    return { type: "text", text: `(${typeof mediaType === "string" ? mediaType : type}, not kept)` };
  return mapMembers(value, withoutMedia);
}

function mapMembers(value: unknown, change: (member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]));
}
