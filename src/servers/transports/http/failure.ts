import {
  InsufficientScopeError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { isPlugboardError, PlugboardError } from "../../../errors.ts";
import { printable } from "../../../lib/printable.ts";
import { readableLength, statusError } from "./status.ts";

export interface FailureContext {
  server: string;
  hadSession: boolean;
  /** False when we sent nothing to identify us by: then a 401 asks for it, otherwise it refuses it. */
  hasCredentials?: boolean;
  /** What may be wrong with what we sent. */
  explain?: (() => string | undefined) | undefined;
  now: number;
  /** Applied to what a server said. */
  redact?: (text: string) => string;
}

/** What the SDK threw, in our terms. Errors that are ours already, or were caused by one of ours, keep their words. */
export function httpFailure(error: unknown, context: FailureContext): PlugboardError {
  const { server, redact = (text: string) => text } = context;
  for (const cause of causes(error)) if (isPlugboardError(cause)) return cause;
  for (const cause of causes(error)) {
    if (UnauthorizedError.isInstance(cause)) {
      return new PlugboardError("auth-required", `"${server}" wants a login.`, { server });
    }
    if (cause instanceof InsufficientScopeError) {
      return insufficientScope(server, redact(cause.requiredScope ?? ""));
    }
    if (SdkHttpError.isInstance(cause)) return fromStatus(cause, context);
    if (SdkError.isInstance(cause) && cause.code === SdkErrorCode.RequestTimeout) {
      return new PlugboardError("not-responding", `"${server}" did not answer in time.`, {
        server,
        cause: error,
      });
    }
  }
  const reason = redact((error instanceof Error ? error.message : String(error)).slice(0, readableLength));
  const message = `The connection to "${server}" failed: ${printable(reason.slice(0, 300), { oneLine: true })}`;
  return new PlugboardError("connection-lost", message, { server, cause: error });
}

export function insufficientScope(server: string, required: string): PlugboardError {
  const scopes = required.split(/\s+/).filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(scope));
  const more = scopes.map((scope) => `+${scope}`).join(" ");
  const which = scopes.length > 0 ? `: ${scopes.join(" ")}` : "";
  return new PlugboardError("auth-failed", `"${server}" wants more rights than this login has${which}.`, {
    server,
    data: { reason: "insufficient-scope", scopes },
    ...(scopes.length > 0 && {
      hint: `Run \`plugboard login ${server} --scopes '${more.replaceAll("'", "")}'\`.`,
    }),
  });
}

/**
 * True when the first request was refused in one of the ways in which servers that only know the older SSE
 * transport refuse a POST.
 */
export function shouldFallBackToSse(error: unknown): boolean {
  for (const cause of causes(error)) {
    const status = SdkHttpError.isInstance(cause)
      ? cause.data.status
      : isPlugboardError(cause) && cause.data?.["reason"] !== "session-lost"
        ? cause.data?.["status"]
        : undefined;
    if (status === 400 || status === 404 || status === 405 || status === 406 || status === 415) return true;
  }
  return false;
}

function fromStatus(error: SdkHttpError, context: FailureContext): PlugboardError {
  const { status, text } = error.data;
  const body = typeof text === "string" ? (context.redact?.(text.slice(0, readableLength)) ?? text) : "";
  if (status === 401 && context.hasCredentials !== false) {
    const message = `"${context.server}" refused the credentials it was given (HTTP 401).`;
    return new PlugboardError("auth-failed", message, {
      server: context.server,
      data: { status },
      hint: context.explain?.(),
    });
  }
  return statusError({
    ...context,
    status: status ?? 0,
    contentType: undefined,
    retryAfter: undefined,
    text: body,
  });
}

function* causes(error: unknown): Generator {
  let current = error;
  for (let depth = 0; depth < 8 && current !== undefined && current !== null; depth++) {
    yield current;
    if (current instanceof AggregateError) current = current.errors[0];
    else current = current instanceof Error ? current.cause : undefined;
  }
}
