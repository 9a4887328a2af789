import type { PlugboardError } from "../../index.ts";
import { modelAdvice } from "../../lib/model-advice.ts";
import { fromOutside } from "./outside.ts";

/** More of a server's message would only crowd the model's context. */
const longest = 2_000;

/**
 * An error in words for a model: what happened, and whether to try again. `stranger` is the untrusted server that it is
 * about: the message may have its words.
 */
export function failureText(error: PlugboardError, stranger?: string): string {
  const said = sentence(boundedWords(error.message));
  const message = stranger === undefined ? said : `${fromOutside(stranger, said)}\n`;
  const advice = sentence(boundedWords(modelAdvice(error)));
  return [message, advice, retryWords(error)].filter(Boolean).join(" ");
}

/** An error that nobody foresaw. */
export function unexpectedText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The call failed: ${sentence(boundedWords(message))} It may have been done all the same.`;
}

/** Words that came from elsewhere, cut, and without halves of characters. */
export function boundedWords(text: string): string {
  if (text.length <= longest) return text.toWellFormed();
  return `${text.slice(0, longest).toWellFormed()}… (cut: ${text.length} characters)`;
}

function sentence(text: string): string {
  return text === "" || /[.!?:)…\n]$/.test(text) ? text : `${text}.`;
}

/** Only the program can do something about a hub that was closed. */
function isClosed({ data }: PlugboardError): boolean {
  return data?.["reason"] === "closed";
}

function retryWords(error: PlugboardError): string {
  const { code, executed, retryable, retryAfterMs, endsTurn } = error;
  if (endsTurn) return "";
  if (isClosed(error)) return "No further call can be made.";
  if (code === "call-cancelled" && executed === "no") return "Nothing was done.";
  if (code === "arguments-invalid") return "Nothing was done; call it again with other arguments.";
  if (retryable) {
    const wait = retryAfterMs === undefined ? "" : ` after ${Math.ceil(retryAfterMs / 1000)} s`;
    return `Trying again${wait} may help.`;
  }
  if (executed === "maybe") return "It may have been done all the same: find out before you call it again.";
  return executed === "no" ? "Nothing was done. The same call would fail again." : "";
}
