import type { Use } from "../servers/connection-key.ts";

/** What events and notifications say about whom they concern. */
interface Concerning {
  type: string;
  server?: string;
  caller?: string;
  project?: string;
  account?: string;
}

/** True if the event's server is visible and the event is shared or belongs to this caller, project and account. */
export function concerns(
  event: Concerning,
  { caller, project, account }: Use,
  isVisible: (server: string) => boolean,
): boolean {
  if (event.server === undefined) return true;
  if (event.server !== "" && !isVisible(event.server)) return false;
  // A connection may be everybody's; a call, a question and an approval have one caller.
  const isPersonal = /^(?:call|question|approval)-/.test(event.type);
  if (caller !== undefined && (isPersonal || event.caller !== undefined) && event.caller !== caller)
    return false;
  const agrees = (mine: string | undefined, its: string | undefined) =>
    mine === undefined || its === undefined || mine === its;
  return agrees(project, event.project) && agrees(account, event.account);
}
