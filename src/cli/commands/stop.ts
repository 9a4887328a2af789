import type { Command } from "commander";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { WarmProcess, Workspace } from "../../config.ts";
import { json, safe } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return verb(
    "stop",
    "End the servers that stayed for the next command because of `keepWarm`, and wait until they are gone. A server that a command is using ends with that command.",
    ["stop", "stop files issues", "stop --json"],
  )
    .argument("[names...]", "the servers to end, in all projects (default: all)")
    .action(async (names: string[], options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const { processes, unanswered } = await workspace.warm.stop(names.length > 0 ? names : undefined);
        const problem =
          unanswered.length > 0 ? silent(unanswered) : await mistake(names, processes, workspace);
        const done = outcome(processes);
        // One JSON document, also if something went wrong.
        if (problem && options.json) throw problem.with({ data: { ...problem.data, ...done } });
        if (options.json) return terminal.out(json(done));
        if (!problem || processes.length > 0) report(done, terminal);
        if (problem) throw problem;
      }),
    );
}

/** A removed server may still be warm, but a name that is neither is a mistake. */
async function mistake(
  names: readonly string[],
  processes: readonly WarmProcess[],
  workspace: Workspace,
): Promise<PlugboardError | undefined> {
  const unknown = names.filter((name) => !processes.some(({ server }) => server === name));
  if (unknown.length === 0) return undefined;
  try {
    const config = await workspace.load();
    for (const name of unknown) workspace.require(config, name);
    return undefined;
  } catch (error) {
    if (isPlugboardError(error)) return error;
    throw error;
  }
}

function silent(sentences: readonly string[]): PlugboardError {
  return new PlugboardError("not-responding", sentences.join(" "), {
    hint: "Kill that process; its servers end with it.",
  });
}

function outcome(processes: readonly WarmProcess[]) {
  return {
    ended: processes.filter(({ state }) => state !== "in-use").map(shown),
    inUse: processes.filter(({ state }) => state === "in-use").map(shown),
  };
}

function report({ ended, inUse }: ReturnType<typeof outcome>, { out }: Terminal): void {
  if (ended.length + inUse.length === 0) return out("No servers are kept running.\n");
  for (const { server, pid } of ended) out(`Ended ${safe(server)} (process ${pid}).\n`);
  for (const { server, pid } of inUse)
    out(`${safe(server)} (process ${pid}) is in use and ends with the command that uses it.\n`);
}

function shown({ server, pid, cwd, startedAt, uses }: WarmProcess) {
  return { server, pid, cwd, startedAt, uses };
}
