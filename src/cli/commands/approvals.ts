import type { Command } from "commander";
import { errorTable } from "../../host.ts";
import { PlugboardError } from "../../index.ts";
import type { ApprovalEntry } from "../../host.ts";
import type { Hub } from "../../index.ts";
import { count, json, painter, safe, sentence, table } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { answerCommand, listWaiting } from "../waiting-approvals.ts";
import { withHub } from "../with-hub.ts";

export function command(terminal: Terminal): Command {
  return (
    verb(
      "approvals",
      "List the calls that wait for approval (`approvals.queue`), of all Plugboard processes of yours. Answer them, and list and revoke the answers that allow tools to be called without a question.",
      [
        "approvals",
        "approvals answer q_abcdefghijklmnopqrst allow",
        "approvals list",
        "approvals revoke a_0123456789abcdef",
      ],
    )
      // Options after a subcommand are its own.
      .enablePositionalOptions()
      .action((options: CommonOptions) => listWaiting(options, terminal))
      .addCommand(answerCommand(terminal))
      .addCommand(listCommand(terminal))
      .addCommand(revokeCommand(terminal))
  );
}

function listCommand(terminal: Terminal): Command {
  return verb("list", "List the tools that you always allow, and what each answer covers.", [
    "approvals list",
    "approvals list --json",
  ]).action(async (options: CommonOptions) =>
    withApprovals(options, terminal, async ({ approvals }) => {
      const remembered = await approvals.list();
      if (options.json) return terminal.out(json({ remembered }));
      terminal.out(
        remembered.length === 0 ? sentence(nothing, terminal) : rememberedTable(remembered, terminal),
      );
    }),
  );
}

function revokeCommand(terminal: Terminal): Command {
  return verb("revoke", "Forget answers, so that the next call is asked about again.", [
    "approvals revoke a_0123456789abcdef",
    "approvals revoke files",
    "approvals revoke --all",
  ])
    .argument("[answer]", "the ID of an answer, or a server for all answers about its tools")
    .option("--all", "forget all answers, of all servers")
    .action(async (answer: string | undefined, options: CommonOptions & { all?: boolean }) => {
      if ((answer === undefined) === (options.all !== true))
        throw new PlugboardError("usage-invalid", "Name an answer or a server, or use --all.", {
          hint: "Run `plugboard approvals list` to see the answers.",
        });
      await withApprovals(options, terminal, async ({ approvals, config }) => {
        const revoked = await approvals.revoke(
          answer === undefined ? { all: true } : isId(answer) ? { id: answer } : { server: answer },
        );
        const isKnown = answer === undefined || config.servers.has(answer);
        if (revoked.length === 0 && !isKnown) terminal.exitCode = errorTable["server-unknown"].exitCode;
        if (options.json) return terminal.out(json({ revoked }));
        for (const { id, covers } of revoked) terminal.out(`${safe(`Revoked ${id}: ${covers}`)}\n`);
        if (revoked.length > 1)
          terminal.out(sentence(`${count(revoked.length, "answer")} revoked.`, terminal));
        if (revoked.length > 0) return;
        const about =
          answer === undefined ? "" : isId(answer) ? ` ${answer}` : ` about the server "${answer}"`;
        terminal.out(safe(`No answer${about} was remembered.`) + "\n");
      });
    });
}

const nothing = "No answers are remembered.";

function isId(answer: string): boolean {
  return /^a_[0-9a-f]{16}$/.test(answer);
}

async function withApprovals(
  options: CommonOptions,
  terminal: Terminal,
  work: (hub: Hub) => Promise<void>,
): Promise<void> {
  await withWorkspace(terminal, options, async (workspace) =>
    withHub(terminal, { tolerant: true }, workspace, work),
  );
}

function rememberedTable(remembered: readonly ApprovalEntry[], terminal: Terminal): string {
  const rows = remembered.map(({ id, at, covers, stale }) => [
    id,
    new Date(at).toISOString().slice(0, 16).replace("T", " "),
    covers,
    stale ?? "yes",
  ]);
  return table(["ID", "ANSWERED (UTC)", "COVERS", "COUNTS"], rows, painter(terminal));
}
