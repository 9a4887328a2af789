import type { Fields, Question } from "./wire.ts";

/** One red pixel. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A WAV file without samples. */
export const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

export const text = (value: string): Fields => ({ type: "text", text: value });
export const image: Fields = { type: "image", data: png, mimeType: "image/png" };
export const embedded = (uri: string, mimeType: string, value: string): Fields => ({
  type: "resource",
  resource: { uri, mimeType, text: value },
});

/** The result of a tool. */
export const says = (value: string): Fields => ({ content: [text(value)] });

export function form(message: string, properties: Fields, required = Object.keys(properties)): Question {
  const requestedSchema = { type: "object", properties, required };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

export function sampling(prompt: string, maxTokens = 100): Question {
  const messages = [{ role: "user", content: text(prompt) }];
  return { method: "sampling/createMessage", params: { messages, maxTokens } };
}

export const roots: Question = { method: "roots/list", params: {} };
