import type { ErrorCode, PlugboardError } from "../errors.ts";
import { asSentence } from "./sentence.ts";

/** What a model can do about errors of a code, unless the error has advice of its own. */
const usualAdvice: Partial<Record<ErrorCode, string>> = {
  "approval-pending": "Make the same call again later.",
  "auth-required": "The user has to log in to the server first.",
  "registration-required": "The user has to set up the login of the server first.",
  "auth-failed": "The user has to check the credentials of the server.",
};

/**
 * What a model reads besides an error's message; empty if nothing fits. This is the only source of such words: `hint` is for
 * people, names settings and commands, and could show a model how to get around a person's answer.
 */
export function modelAdvice({ code, advice, data }: PlugboardError): string {
  const near = Array.isArray(data?.["near"]) ? data["near"].map(String).slice(0, 5) : [];
  if (near.length > 0) return `Did you mean ${near.join(" or ")}?`;
  return advice ?? usualAdvice[code] ?? "";
}

/** An error's message, and what a model can do about it. */
export function modelMessage(error: PlugboardError): string {
  const advice = modelAdvice(error);
  return advice === "" ? error.message : `${asSentence(error.message)} ${advice}`;
}
