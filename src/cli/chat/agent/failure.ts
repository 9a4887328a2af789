import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  RetryError,
  StreamProviderError,
  TypeValidationError,
} from "ai";
import { PlugboardError, isPlugboardError } from "../../../index.ts";
import { isRecord } from "../../../lib/record.ts";
import { hostOf } from "../endpoint.ts";
import type { Endpoint } from "../endpoint.ts";

const longest = 300;

/** What went wrong at the model's endpoint, as an error with a code and a hint. */
export function modelFailure(
  thrown: unknown,
  endpoint: Endpoint,
  { hasBegun, isComplete }: { hasBegun: boolean; isComplete: boolean },
): PlugboardError {
  const error = RetryError.isInstance(thrown) ? thrown.lastError : thrown;
  if (isPlugboardError(error)) return error;
  if (!APICallError.isInstance(error)) return failedAnswer(error, endpoint, isComplete);
  const { statusCode: status } = error;
  if (status === undefined || status < 300)
    return hasBegun || status !== undefined ? brokenOff(error, endpoint) : unreachable(error, endpoint);
  const host = hostOf(endpoint.url);
  const said = wordsOf(error.message, endpoint);
  const data = { status };
  if (status === 429) {
    const retryAfterMs = retryAfter(error.responseHeaders ?? {});
    const hint =
      retryAfterMs === undefined
        ? "The conversation is kept. Wait a little and say it again."
        : `The conversation is kept. Say it again in ${Math.ceil(retryAfterMs / 1000)} s.`;
    return new PlugboardError("rate-limited", `${host} limits requests (429)${said}`, {
      data,
      hint,
      retryAfterMs,
    });
  }
  if (status === 401 || status === 403) {
    const hint =
      endpoint.keyNote ??
      (endpoint.key === undefined
        ? "No key is set: set `chat.key` in your configuration, or PLUGBOARD_CHAT_KEY."
        : "Check the key: `chat.key` in your configuration, or the variable it comes from.");
    return new PlugboardError("model-refused", `${host} refused the key (${status})${said}`, { data, hint });
  }
  if (status >= 500) return new PlugboardError("model-failed", `${host} failed (${status})${said}`, { data });
  const hint = checkEndpoint(endpoint);
  return new PlugboardError("model-refused", `${host} refused the request (${status})${said}`, {
    data,
    hint,
  });
}

/** What went wrong after the endpoint accepted the request. */
function failedAnswer(error: unknown, endpoint: Endpoint, isComplete: boolean): PlugboardError {
  if (StreamProviderError.isInstance(error)) return reportedError(error.message, endpoint);
  if (InvalidResponseDataError.isInstance(error) && isComplete) return endedOpenly(endpoint);
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))
    return new PlugboardError(
      "model-failed",
      `${hostOf(endpoint.url)} sent something that is not an answer in ${endpoint.provider}'s format.`,
      { cause: error, hint: checkEndpoint(endpoint) },
    );
  return brokenOff(error, endpoint);
}

/** The endpoint put an error where its answer should be. */
export function reportedError(said: string, endpoint: Endpoint): PlugboardError {
  const message = `${hostOf(endpoint.url)} reported an error${wordsOf(said, endpoint)}`;
  return new PlugboardError("model-failed", message, {
    hint: "The conversation is kept. Say it again, or use another model.",
  });
}

/** The message of `{"error":{"message":…}}`, or of what is in it. */
export function saidIn(value: unknown): string | undefined {
  const { error, message } = isRecord(value) ? value : {};
  for (const said of [value, error, message, isRecord(error) ? error["message"] : undefined])
    if (typeof said === "string" && said.trim() !== "") return said;
  return undefined;
}

/** The endpoint closed its answer without a reason, which may or may not be its end. */
function endedOpenly({ url }: Endpoint): PlugboardError {
  const message = `${hostOf(url)} ended its answer without saying whether it is complete (no finish_reason).`;
  return new PlugboardError("model-failed", message, {
    hint: "What it said is kept. Say something to go on.",
  });
}

export function redirected(location: string | null, { url }: Endpoint): PlugboardError {
  const target = location === null ? undefined : URL.parse(location, url)?.origin;
  const where = target === undefined ? "" : ` to ${target}`;
  const message = `${hostOf(url)} redirects${where}. Redirects are not followed, because they would take your key along.`;
  return new PlugboardError("model-refused", message, {
    hint: "Set the final address with `chat.url` or --url.",
  });
}

/** Answered, but not with a stream. */
export function notStreamed(type: string, endpoint: Endpoint): PlugboardError {
  const what = type === "text/html" ? "a web page" : "something that is not streamed";
  const message = `${hostOf(endpoint.url)} answered with ${what} (${type}).`;
  return new PlugboardError("model-failed", message, { hint: checkEndpoint(endpoint) });
}

export function unusableKey({ url }: Endpoint): PlugboardError {
  const message = `The key for ${hostOf(url)} contains characters that cannot be sent in a header.`;
  return new PlugboardError("model-refused", message, {
    hint: "Set it again, without line breaks and typographic characters.",
  });
}

function checkEndpoint({ model, provider }: Endpoint): string {
  return `Check the model's name (${model}), the URL and the provider (${provider}).`;
}

/** The endpoint stopped before its answer was complete. */
export function brokenOff(cause: unknown, { url }: Endpoint): PlugboardError {
  return new PlugboardError("model-failed", `${hostOf(url)} broke off in the middle of its answer.`, {
    cause,
  });
}

export function tooSilent(timeoutMs: number, { url }: Endpoint): PlugboardError {
  const message = `${hostOf(url)} has been silent for ${Math.round(timeoutMs / 1000)} s.`;
  const hint = "The conversation is kept. Say it again, or increase `chat.timeoutMs`.";
  return new PlugboardError("model-failed", message, { hint });
}

function unreachable(cause: unknown, { url }: Endpoint): PlugboardError {
  const host = hostOf(url);
  const hint = "The conversation is kept. Check the URL and the network, and say it again.";
  return new PlugboardError("model-failed", `Could not talk to ${host}${reasonOf(cause)}.`, { cause, hint });
}

/** Node's own word for it, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string" && /^[A-Z_]{3,40}$/.test(code)) return ` (${code})`;
  }
  return "";
}

/** Endpoints repeat the key they refuse. */
function wordsOf(message: string, { key }: Endpoint): string {
  const hidden = key === undefined || key === "" ? message : message.replaceAll(key, "(hidden)");
  const short = hidden.length > longest ? `${hidden.slice(0, longest)}…` : hidden;
  return short.trim() === "" ? "." : `: ${short.trim()}`;
}

function retryAfter(headers: Record<string, string>): number | undefined {
  const ms = Number(headers["retry-after-ms"]);
  if (ms > 0) return ms;
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const wait = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000;
  return wait > 0 ? wait : undefined;
}
