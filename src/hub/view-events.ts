import type { PlugboardEvent } from "../events.ts";
import type { Use } from "../servers/connection-key.ts";
import { audienceOfCaller, audienceOfConnection } from "../servers/rpc/message-audience.ts";
import type { MessageAudience } from "../servers/rpc/message-audience.ts";

/** What events and notifications say about the connection that they concern. */
interface Concerning {
  type?: string;
  server?: string;
  project?: string;
  account?: string;
  headers?: string;
}

/**
 * Whose an event is. A connection and its lists may be everybody's; a call, a question, an approval, the page of a login
 * and a log have one caller, and without one they are only for views that have none either.
 */
export function audienceOf(event: PlugboardEvent): MessageAudience {
  switch (event.type) {
    case "config-changed":
    case "startup-complete":
      return audienceOfConnection(undefined);
    case "connection-changed":
    case "catalog-changed":
    case "auth-changed":
    case "issuer-chosen":
      return audienceOfConnection(event.caller);
    case "call-start":
    case "call-progress":
    case "call-end":
    case "question-asked":
    case "question-answered":
    case "approval-parked":
    case "approval-settled":
    case "approval-remembered":
    case "approval-revoked":
    case "url-open-failed":
    case "server-log":
      return audienceOfCaller(event.caller);
  }
}

/** True if the server is visible, the audience includes this caller, and project and account are the same. */
export function concerns(
  about: Concerning,
  audience: MessageAudience,
  { caller, project, account, headers }: Use,
  isVisible: (server: string) => boolean,
): boolean {
  if (about.server === undefined) return true;
  if (about.server !== "" && !isVisible(about.server)) return false;
  if (caller !== undefined && !includes(audience, caller)) return false;
  // Several people may be one caller, and differ only in what they send along.
  if (about.headers !== undefined && (caller ?? headers) !== undefined)
    if (headers?.get(about.server)?.mark !== about.headers) return false;
  const agrees = (mine: string | undefined, its: string | undefined) =>
    mine === undefined || its === undefined || mine === its;
  return agrees(project, about.project) && agrees(account, about.account);
}

function includes(audience: MessageAudience, caller: string): boolean {
  return audience.for === "everyone" || (audience.for === "caller" && audience.caller === caller);
}
