import { Argument } from "commander";
import type { Command } from "commander";
import { PlugboardError } from "../index.ts";
import type { ApprovalAnswer } from "../host.ts";
import type { Hub, WaitingQuestion } from "../index.ts";
import { shellWord } from "../lib/argv.ts";
import { json, safe } from "./terminal/print.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { verb, withWorkspace } from "./verb.ts";
import type { CommonOptions } from "./verb.ts";
import { waitingText } from "./views/waiting-question.ts";
import { withHub } from "./with-hub.ts";

interface AnswerOptions extends CommonOptions {
  session?: boolean;
  always?: boolean;
  reason?: string;
}

/** Shows the questions about calls that wait for an answer. */
export async function listWaiting(options: CommonOptions, terminal: Terminal): Promise<void> {
  await usingHub(terminal, options, async (hub) => {
    const waiting = await hub.approvals.waiting();
    if (options.json) return terminal.out(json({ waiting }));
    terminal.out(waitingText(waiting, Date.now(), terminal));
    if (waiting.length === 0 && !hub.config.settings.approvals?.queue)
      terminal.err("Calls that need approval do not wait: `approvals.queue` is off in this configuration.\n");
  });
}

export function answerCommand(terminal: Terminal): Command {
  return verb(
    "answer",
    "Answer a call that waits for approval. An answer is good for that call with those arguments, once, unless it is remembered. A call whose client is gone is not run.",
    [
      "approvals answer q_abcdefghijklmnopqrst allow",
      "approvals answer q_abcd allow --always",
      'approvals answer q_abcd deny --reason "not on a Friday"',
    ],
  )
    .argument("<id>", "the question, or the beginning of its id")
    .addArgument(
      new Argument("<decision>", "cancel ends the turn of the agent, not only the call").choices([
        "allow",
        "deny",
        "cancel",
      ]),
    )
    .option("--session", "allow: also for the same tool until the program that asked ends")
    .option("--always", "allow: also for the same tool from now on; see `plugboard approvals list`")
    .option("--reason <text>", "what the caller is told")
    .action((id: string, decision: ApprovalAnswer["decision"], options: AnswerOptions) =>
      usingHub(terminal, options, (hub) => answer(id, decision, options, hub, terminal)),
    );
}

async function answer(
  typed: string,
  decision: ApprovalAnswer["decision"],
  { session, always, reason, json: asJson }: AnswerOptions,
  hub: Hub,
  terminal: Terminal,
): Promise<void> {
  if (session && always) throw new PlugboardError("usage-invalid", "Use only one of --session and --always.");
  if ((session || always) && decision !== "allow")
    throw new PlugboardError("usage-invalid", "--session and --always go with `allow` only.");
  const remember = always ? "always" : session ? "session" : undefined;
  const known = chosen(typed, await hub.approvals.waiting());
  const given = {
    decision,
    ...(known && { digest: known.digest }),
    ...(remember && { remember }),
    ...(reason !== undefined && { reason }),
  } as ApprovalAnswer;
  const { question, state } = await hub.approvals.answer(known?.id ?? typed, given);
  const { id, server, tool } = question;
  if (asJson) return terminal.out(json({ id, server, tool, state, decision, remember }));
  const about = `${safe(tool)} of ${safe(server)} (${id})`;
  terminal.out(
    decision === "allow"
      ? `Allowed ${about}. The call is sent as soon as its client is there for it.\n`
      : `Denied ${about}. Nothing was run.\n`,
  );
}

/** The question that was meant by the beginning of its id; undefined if none waits. */
function chosen(typed: string, waiting: readonly WaitingQuestion[]): WaitingQuestion | undefined {
  const [found, other] = waiting.filter(({ id }) => typed.length >= 4 && id.startsWith(typed));
  if (!found || !other) return found;
  throw new PlugboardError("usage-invalid", `Several questions begin with ${JSON.stringify(typed)}.`, {
    hint: "Type more of the id; `plugboard approvals` lists them.",
  });
}

/** Nobody is here to ask, so somebody else has to know. */
export function sayWhatWaits(hub: Hub, terminal: Terminal): void {
  hub.on("question-asked", ({ kind, question }) => {
    if (kind !== "approve") return;
    terminal.err(
      `The call waits for approval: plugboard approvals answer ${shellWord(question)} allow, or deny\n`,
    );
  });
}

async function usingHub(
  terminal: Terminal,
  options: CommonOptions,
  work: (hub: Hub) => Promise<void>,
): Promise<void> {
  await withWorkspace(terminal, options, (workspace) =>
    withHub(terminal, { tolerant: true }, workspace, work),
  );
}
