import * as z from "zod/mini";
import { field } from "./field.ts";

const url = z
  .string()
  .check(
    z.refine(
      (text) => text.includes("${") || /^https?:$/.test(URL.parse(text)?.protocol ?? ""),
      "expected an http or https URL",
    ),
  );

/** The `chat` settings: the model that `plugboard chat` talks to. */
export const chat = z.strictObject({
  provider: field(
    z.enum(["openai", "anthropic"]),
    "Which format the endpoint speaks: `openai` (Chat Completions, which most others speak too) or `anthropic` (Messages). Default: by the URL and the model.",
    "openai",
  ),
  url: field(
    url,
    "The endpoint, up to and including `/v1`. Default: the provider's own.",
    "http://127.0.0.1:11434/v1",
    "url",
  ),
  model: field(z.string().check(z.minLength(1)), "The model's name at that endpoint.", "gpt-5", "word"),
  key: field(
    z.string().check(z.minLength(1)),
    "The endpoint's key. Use a reference. It is sent to `url` only.",
    "${secret:OPENAI_KEY}",
  ),
  system: field(
    z.string().check(z.maxLength(100_000)),
    "What the model is told first, in addition to what it is told about the servers.",
    "Answer in short sentences.",
  ),
  maxSteps: field(
    z.int().check(z.minimum(1), z.maximum(1_000)),
    "How often the model may go on after tool calls before it has to stop and wait for you. Default: 50.",
    50,
  ),
  timeoutMs: field(
    z.int().check(z.minimum(1_000), z.maximum(3_600_000)),
    "How long the endpoint may be silent. Default: two minutes.",
    120_000,
  ),
  maxOutputTokens: field(
    z.int().check(z.minimum(1)),
    "How much the model may write in one step. Default: the provider decides.",
    8_000,
  ),
  output: field(
    z.string().check(z.minLength(1)),
    "The folder for images and other files from tools. Default: the current folder.",
    "~/Downloads",
    "word",
  ),
});

export type ChatSettings = z.output<typeof chat>;
