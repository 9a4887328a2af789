import type { ModelMessage } from "ai";
import { isRecord } from "../../lib/record.ts";

/** The messages to keep on disk: no media, and only the last turns if all of them are longer than `maxCharacters`. */
export function keptMessages(messages: readonly ModelMessage[], maxCharacters: number): ModelMessage[] {
  let kept = messages.map((message) => withoutMedia(message) as ModelMessage);
  let size = JSON.stringify(kept).length;
  while (size > maxCharacters) {
    const next = kept.findIndex(({ role }, at) => at > 0 && role === "user");
    if (next === -1) return [];
    size -= JSON.stringify(kept.slice(0, next)).length;
    kept = kept.slice(next);
  }
  return kept;
}

const media = /^(?:file|image|media|audio)(?:-(?:data|url|id))?$/;

/** Media are large, and their files were saved when they came. */
function withoutMedia(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMedia);
  if (!isRecord(value)) return value;
  const { type, mediaType } = value;
  if (typeof type === "string" && media.test(type))
    return { type: "text", text: `(${typeof mediaType === "string" ? mediaType : type}, not kept)` };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutMedia(member)]));
}
