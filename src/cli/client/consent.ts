import { PlugboardError } from "../../index.ts";
import { orCancelled } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { CommonOptions } from "../verb.ts";

export interface ChangeOptions extends CommonOptions {
  server?: string[];
  scope?: "user" | "project";
  dryRun?: boolean;
  yes?: boolean;
}

/** Asks, unless it was agreed to beforehand. False in a dry run. */
export async function mayWrite(
  question: string,
  { yes, dryRun, json: asJson }: ChangeOptions,
  terminal: Terminal,
): Promise<boolean> {
  if (dryRun) return false;
  if (yes) return true;
  if (asJson || !terminal.isInteractive)
    throw new PlugboardError("usage-invalid", "Cannot ask for confirmation without a terminal.", {
      hint: "Review the changes with --dry-run, then pass --yes.",
    });
  return orCancelled(terminal.confirm(question));
}

/** Nothing is written anywhere if one of the files cannot be edited. */
export function assertReadable(files: readonly { file: string; problem?: string }[]): void {
  const broken = files.find(({ problem }) => problem !== undefined);
  if (!broken) return;
  const message = `${broken.file} cannot be edited: ${broken.problem ?? ""}.`;
  throw new PlugboardError("config-unreadable", message, { data: { file: broken.file } });
}
