import type { PlugboardError } from "../../index.ts";
import { fromOutside } from "./outside.ts";

/** These hints lead to the command line; a model has the schema, and cannot answer questions. */
const hintless: ReadonlySet<string> = new Set([
  "arguments-invalid",
  "question-declined",
  "tool-unknown",
  "usage-invalid",
]);

/**
 * An error in words for a model: what happened, and whether to try again. `stranger` is the untrusted server that it is
 * about: the message may have its words.
 */
export function failureText(error: PlugboardError, stranger?: string): string {
  const { code, hint, data } = error;
  const message = stranger === undefined ? error.message : `${fromOutside(stranger, error.message)}\n`;
  const near = Array.isArray(data?.["near"]) ? data["near"].map(String).slice(0, 5) : [];
  const similar = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "";
  return [message, hintless.has(code) ? "" : hint, similar, retryWords(error)].filter(Boolean).join(" ");
}

function retryWords({ code, executed, retryable, retryAfterMs, endsTurn }: PlugboardError): string {
  if (endsTurn) return "";
  if (code === "arguments-invalid") return "Nothing was done; call it again with other arguments.";
  if (retryable) {
    const wait = retryAfterMs === undefined ? "" : ` after ${Math.ceil(retryAfterMs / 1000)} s`;
    return `Trying again${wait} may help.`;
  }
  if (executed === "maybe") return "It may have been done all the same: find out before you call it again.";
  return executed === "no" ? "Nothing was done. The same call would fail again." : "";
}
