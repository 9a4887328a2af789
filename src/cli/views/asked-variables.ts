import type { ServerEntry, Workspace } from "../../config.ts";
import { passOnAdvice, withheldVariables } from "../../lib/withheld-variables.ts";

/** Enough for the last start. */
const lastLines = 30;

/** How to pass on the variables that a server named when it last ran, if they are set here and it does not get them. */
export function askedVariables(
  { logs, env }: Workspace,
  entry: ServerEntry,
): { names: string[]; advice: string } | undefined {
  if (entry.config?.command === undefined || entry.status.kind === "disabled") return undefined;
  const lines = logs.read(entry, lastLines);
  // After a start that succeeded, nothing was missing.
  const started = lines.findLastIndex(({ source, message }) => source === "state" && message === "connected");
  const words = lines.slice(started + 1).map(({ message }) => message);
  const names = withheldVariables(words.join("\n"), env, entry.config);
  return names.length === 0 ? undefined : { names, advice: passOnAdvice(names) };
}
