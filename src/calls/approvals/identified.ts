import type { Approvable, ApproveContext } from "../approve.ts";

/** The call with what would run or be contacted now: answers are good for that only. */
export async function identified(
  asked: Approvable,
  { signal }: Pick<ApproveContext, "signal">,
): Promise<Approvable> {
  if (asked.target) return asked;
  return { ...asked, target: await asked.call.route.identify(signal()) };
}
