import { isRecord } from "../../lib/record.ts";

/**
 * Whose a message is that a server sent by itself. A view of a caller hears what is for everyone and what is for that
 * caller. A view without a caller belongs to the program that made the hub, and hears every message.
 */
export type MessageAudience =
  | { readonly for: "everyone" }
  | { readonly for: "caller"; readonly caller: string }
  | { readonly for: "nobody" };

const everyone: MessageAudience = { for: "everyone" };
const nobody: MessageAudience = { for: "nobody" };
/** A server that sends people to more pages than this is not followed any further back. */
const maxPages = 1_000;

/** The audience of what concerns one caller, or none in particular. */
export function audienceOfCaller(caller: string | undefined): MessageAudience {
  return caller === undefined ? nobody : { for: "caller", caller };
}

/** The audience of what concerns a connection as a whole. */
export function audienceOfConnection(caller: string | undefined): MessageAudience {
  return caller === undefined ? everyone : { for: "caller", caller };
}

/** What is known about a message when it arrives. */
export interface Arrived {
  method: string;
  params: Record<string, unknown>;
  /** The only caller of the connection. */
  owner: string | undefined;
  /** The request that it certainly belongs to, if somebody in particular sent that. */
  request: { caller?: string | undefined } | undefined;
}

/**
 * Who uses a session, and so whose the messages of its server are. The only place that decides it. During which request
 * a message came says nothing on a pipe: it may be about one that ended a moment ago, or about work that goes on. So it
 * belongs to a caller only if no other one has used the session; where that cannot be told, it is nobody's.
 */
export class SessionAudience {
  /** The caller of every use until now; `several` once there was a second one. */
  #users: { readonly caller: string | undefined } | "several" | undefined;
  /** The callers that the server sent to a page, by the id of that. */
  readonly #pages = new Map<string, string | undefined>();

  /** A caller, or the program itself, uses the session from now on. */
  usedBy(caller: string | undefined): void {
    const users = this.#users;
    if (users === undefined) this.#users = { caller };
    else if (users !== "several" && users.caller !== caller) this.#users = "several";
  }

  /** True if messages of unknown origin cannot be about somebody else than the one caller there is. */
  get hasOneUser(): boolean {
    return this.#users !== "several";
  }

  /** The caller of a request is asked to open a page, whose end the server may tell later. */
  sentToPage({ elicitationId }: Record<string, unknown>, caller: string | undefined): void {
    if (typeof elicitationId !== "string") return;
    // An id that was given to two callers says nothing.
    const isTaken = this.#pages.has(elicitationId) && this.#pages.get(elicitationId) !== caller;
    this.#pages.set(elicitationId, isTaken ? undefined : caller);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > maxPages && oldest !== undefined) this.#pages.delete(oldest);
  }

  /** The same for pages that an error names. */
  sentToPages(data: unknown, caller: string | undefined): void {
    const pages = isRecord(data) ? data["elicitations"] : undefined;
    if (!Array.isArray(pages)) return;
    for (const page of pages.slice(0, maxPages)) if (isRecord(page)) this.sentToPage(page, caller);
  }

  of({ method, params, owner, request }: Arrived): MessageAudience {
    if (owner !== undefined) return { for: "caller", caller: owner };
    if (method.endsWith("/list_changed")) return everyone;
    if (request) return audienceOfCaller(request.caller);
    const { elicitationId } = params;
    if (method === completed && typeof elicitationId === "string" && this.#pages.has(elicitationId))
      return audienceOfCaller(this.#pages.get(elicitationId));
    return this.ofAnything(owner);
  }

  /** The audience of what the server's program says of which nothing is known. */
  ofAnything(owner: string | undefined): MessageAudience {
    const users = this.#users;
    return audienceOfCaller(owner ?? (typeof users === "object" ? users.caller : undefined));
  }
}

const completed = "notifications/elicitation/complete";
