import { describeOrigin } from "../../config.ts";
import { conditionWords } from "../../host.ts";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { Origin, Workspace } from "../../config.ts";
import type { ApprovalEntry, ApprovalExplanation, ToolExplanation, ToolRule } from "../../host.ts";
import type { Hub, LoadedConfig } from "../../index.ts";
import { joinArgv, shellWord } from "../../lib/argv.ts";
import { nearest } from "../../lib/suggest.ts";
import { printLines } from "../terminal/live-area.ts";
import type { Line } from "../terminal/live-area.ts";
import { hanging, json, painter, safe, screenWidth } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { CommonOptions } from "../verb.ts";
import { withHub } from "../with-hub.ts";
import { changeLines } from "./definition-changes.ts";
import { flagLines } from "./pin-report.ts";
import { statusWords } from "./tool-status.ts";

/** Explains why a tool is offered, hidden or needs approval. Uses remembered lists; starts no server. */
export async function explainOneTool(
  workspace: Workspace,
  config: LoadedConfig,
  name: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  await withHub(terminal, { config, isLooking: true }, workspace, async (hub) => {
    const explanation = await hub.explainTool(name, { wait: false }).catch(async (error: unknown) => {
      if (!isPlugboardError(error, "tool-unknown")) throw error;
      const states = await hub.listStates("tools");
      const listed = new Set(states.flatMap(({ server, at }) => (at === undefined ? [] : [server])));
      throw unknownName(error, name, hub, listed);
    });
    terminal.out(options.json ? json(explanation) : describe(explanation, terminal));
  });
}

function unknownName(
  error: PlugboardError,
  name: string,
  { config }: Hub,
  listed: ReadonlySet<string>,
): PlugboardError {
  const server = [...config.servers.keys()].find((one) => name.startsWith(`${one}.`));
  if (server !== undefined && !listed.has(server))
    return new PlugboardError("tool-unknown", `The tools of "${server}" are not known yet.`, {
      cause: error,
      server,
      hint: `Run \`plugboard tools ${shellWord(server)}\`, then try again.`,
    });
  if (config.bundles.has(name))
    return new PlugboardError("server-unknown", `"${name}" is a bundle, not a server or tool.`, {
      cause: error,
      hint: "Run `plugboard list` to see the servers.",
    });
  const near = nearest(name, config.servers.keys());
  const known = Array.isArray(error.data?.["near"]) ? error.hint : undefined;
  const meant = near === undefined ? undefined : `Did you mean "${near}"?`;
  return new PlugboardError("server-unknown", `Unknown server or tool: ${name}`, {
    cause: error,
    hint:
      meant ??
      known ??
      (server === undefined
        ? "Run `plugboard list` to see the servers."
        : `Run \`plugboard tools ${shellWord(server)}\` to see its tools.`),
  });
}

function describe(explanation: ToolExplanation, terminal: Terminal): string {
  const { id, server, name, status, because, decidedBy, renamedTo, deferral, approval, rules, pin } =
    explanation;
  const lines: [string, string][] = [
    ["server", server],
    ["name", renamedTo === undefined ? name : `${name}, renamed to ${renamedTo}`],
    ["status", statusWords({ status, because }, decidedBy, terminal.cwd)],
    ...(deferral ? [["deferred", deferralWords(deferral)] as [string, string]] : []),
    ...(pin ? [["pinned", `${pinWords[pin.state]}, in ${pin.file}`] as [string, string]] : []),
    ["approval", status === "available" ? approvalWords(approval) : "not needed: the tool cannot be called"],
    ...approval.conditions.map(({ rule, mode, when, origin }): [string, string] => [
      "if",
      `${conditionWords(when)}: ${mode}  ${rule}  ${place(origin)}`,
    ]),
    ...approval.remembered.map((answer): [string, string] => ["answered", answerWords(answer)]),
    ...rules.map((rule): [string, string] => ["rule", ruleWords(rule)]),
  ];
  const paint = painter(terminal);
  const body = lines
    .map(([label, text]) => `  ${paint("dim", label.padEnd(8))}  ${hanging(safe(text), 12, terminal)}\n`)
    .join("");
  const width = screenWidth(terminal, 100);
  return `${paint("bold", safe(id))}\n${body}${printLines(pinLines(explanation, width), terminal)}`;
}

const pinWords = {
  same: "as it is now",
  new: "not yet",
  changed: "differently",
  damaged: "damaged",
  unreadable: "unknown",
} as const;

/** What differs from the lock file, and what is suspicious. */
export function pinLines(
  { server, name, pin, flags }: Pick<ToolExplanation, "server" | "name" | "pin" | "flags">,
  width: number,
): Line[] {
  const differs = pin !== undefined && pin.state !== "same";
  const change = pin?.state === "new" ? ("new" as const) : ("changed" as const);
  return [
    ...(differs ? changeLines({ kind: "tools", name, change, fields: pin.changes }, width) : []),
    ...flagLines(flags, width),
    ...(differs
      ? [
          [
            {
              text: `  Approve it with \`${joinArgv(["plugboard", "lock", `${server}.${name}`])}\`.`,
              style: "cyan" as const,
            },
          ],
        ]
      : []),
  ].map((line) => line.map(({ text, style }) => ({ text: safe(text), style })));
}

function approvalWords({ mode, origin, outcome, because, conditions }: ApprovalExplanation): string {
  if (!origin || !outcome) return mode;
  const happens = { approved: "not asked about", asked: "asked about", denied: "denied" }[outcome];
  const why = because === undefined ? "" : `, because ${because}`;
  const unless = conditions.length === 0 ? "" : ", unless a condition below holds";
  return `${mode}, from ${place(origin)}: a call is ${happens}${why}${unless}`;
}

function answerWords({ id, remembered, covers, at, stale }: ApprovalEntry): string {
  const counts = stale === undefined ? "" : `; does not count any more: ${stale}`;
  return `${remembered} (${id}, ${new Date(at).toISOString().slice(0, 10)}): ${covers}${counts}`;
}

/** For example `yes: the tools' definitions take …, toolSearch  /home/me/config.json:3`. */
function deferralWords({ deferred, because, decidedBy }: NonNullable<ToolExplanation["deferral"]>): string {
  const { rule, origin } = decidedBy;
  const where = origin ? `, ${rule}  ${place(origin)}` : "";
  return `${deferred ? "yes" : "no"}: ${because}${where}`;
}

/** For example `tools.deny[0] "delete_*"  /home/me/config.json:7`. */
function ruleWords({ rule, pattern, origin }: ToolRule): string {
  return `${rule}${pattern === undefined ? "" : ` ${JSON.stringify(pattern)}`}  ${place(origin)}`;
}

function place(origin: Origin): string {
  if (origin.file === undefined) return describeOrigin(origin);
  return origin.line === undefined ? origin.file : `${origin.file}:${origin.line}`;
}
