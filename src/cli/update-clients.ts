import { PlugboardError } from "../index.ts";
import type { ClientComparison, Workspace } from "../config.ts";
import { count, safe } from "./terminal/print.ts";
import { orCancelled } from "./terminal/signals.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface UpdateOptions {
  yes?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

export interface Updated {
  written: string[];
  failed: { file: string; reason: string }[];
}

/** Asks, then writes the changes into the clients' files. One file that cannot be written does not stop the others. */
export async function updateClients(
  comparisons: readonly ClientComparison[],
  workspace: Workspace,
  { yes, dryRun, json }: UpdateOptions,
  terminal: Terminal,
): Promise<Updated> {
  const pending = comparisons.filter(({ compared }) => compared.changes.length > 0);
  const updated: Updated = { written: [], failed: [] };
  if (pending.length === 0 || dryRun) return updated;
  if (!yes && (json || !terminal.isInteractive)) {
    throw new PlugboardError("usage-invalid", "Cannot ask for confirmation without a terminal.", {
      hint: "Review the changes with --dry-run, then pass --yes.",
    });
  }
  const files = count(pending.length, "file");
  if (!yes && !(await orCancelled(terminal.confirm(`Write ${files} of other clients?`)))) return updated;
  for (const comparison of pending) {
    try {
      await workspace.updateClient(comparison);
      updated.written.push(comparison.file);
    } catch (error) {
      updated.failed.push({ file: comparison.file, reason: (error as Error).message });
    }
  }
  return updated;
}

export function reportUpdate({ written, failed }: Updated, terminal: Terminal): void {
  for (const { reason } of failed) terminal.err(`error: ${safe(reason)}\n`);
  if (failed.length > 0) terminal.exitCode = 3;
  for (const file of written) terminal.out(`Wrote ${safe(file)}\n`);
}
