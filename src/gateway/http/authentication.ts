import { timingSafeEqual } from "node:crypto";
import { isLoopback } from "./edge.ts";
import type { HttpRefusal } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";

export interface AuthenticationOptions {
  authenticate?:
    | ((request: { headers: Headers }) => string | undefined | Promise<string | undefined>)
    | undefined;
  token?: string | undefined;
  auth?: "token" | "none" | undefined;
}

export type Authentication = (request: HttpRequest) => string | HttpRefusal | Promise<string | HttpRefusal>;

/** Decides for each request who sent it: a caller's id, or why it is refused. Without any option nobody gets in. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { authenticate, token, auth } = options;
  if (authenticate) return async (request) => knownCaller(await authenticate({ headers: request.headers() }));
  if (auth === "none") return localCaller;
  const isToken = token === undefined || token === "" ? () => false : comparison(token);
  return (request) => {
    const sent = bearerToken(request);
    if (sent === undefined)
      return unauthorized("This needs a token: Authorization: Bearer <token>.", "Bearer");
    return isToken(sent) ? "token" : unauthorized("The token is not valid.", 'Bearer error="invalid_token"');
  };
}

/** True if everybody who reaches the gateway may use it. */
export function isOpen({ authenticate, auth }: AuthenticationOptions): boolean {
  return !authenticate && auth === "none";
}

/** Everybody on this machine is the same caller, and nobody else is one. A web `Request` does not say where it is from. */
function localCaller({ received }: HttpRequest): string | HttpRefusal {
  if (received && isLoopback(received.remoteAddress) && isLoopback(received.localAddress)) return "local";
  const message = received
    ? "Without authentication only this machine is served."
    : "Nothing shows that this request is from this machine. Say who it is with `authenticate`.";
  return { status: 403, message };
}

function knownCaller(caller: unknown): string | HttpRefusal {
  if (typeof caller === "string" && caller !== "") return caller;
  return unauthorized("The credentials are missing or not valid.", "Bearer");
}

/** From the header only: whatever is in a URL ends up in logs and histories. */
export function bearerToken(request: HttpRequest): string | undefined {
  const header = request.header("authorization") ?? "";
  // As nearly every client writes it.
  if (header.startsWith("Bearer ") && !header.includes(" ", 7) && header.length > 7) return header.slice(7);
  return /^bearer +([^\s]+)$/i.exec(header)?.[1];
}

function unauthorized(message: string, challenge: string): HttpRefusal {
  return { status: 401, message, headers: { "www-authenticate": challenge } };
}

/** Takes the same time for every text, whatever it has in common with the token: both are filled up to one length. */
export function comparison(token: string): (text: string) => boolean {
  const { length } = token;
  // Two bytes for each character, so that different texts are different bytes.
  const size = 2 * Math.max(64, length);
  const expected = Buffer.alloc(size);
  const given = Buffer.alloc(size);
  expected.write(token, "utf16le");
  let filled = 0;
  return (text) => {
    const written = given.write(text, "utf16le");
    if (written < filled) given.fill(0, written, filled);
    filled = written;
    return timingSafeEqual(given, expected) && text.length === length;
  };
}
