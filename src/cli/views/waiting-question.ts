import type { WaitingQuestion } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import { count, hanging, painter, safe, screenWidth } from "../terminal/print.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { argumentLines } from "./argument-lines.ts";
import { callHeading, cutLines, markedText } from "./marked-text.ts";
import { effectWords } from "./tool.ts";

const mostExact = 8;

/**
 * What a person needs to decide about each call that waits. Escapes the texts. On a screen, long arguments are cut, each
 * by itself; a file or pipe gets everything.
 */
export function waitingText(questions: readonly WaitingQuestion[], now: number, terminal: Terminal): string {
  if (questions.length === 0) return "No call waits for approval.\n";
  const blocks = questions.map((question) => questionLines(question, now, terminal).join("\n"));
  const first = questions[0]?.id ?? "";
  return `${blocks.join("\n\n")}\n\nAnswer with: plugboard approvals answer ${shellWord(safe(first))} allow, or deny\n`;
}

function questionLines(question: WaitingQuestion, now: number, terminal: Terminal): string[] {
  const { id, caller, annotations, exact, createdAt, expiresAt, remember } = question;
  const paint = painter(terminal);
  const times = `asked ${timeWords(now - createdAt)} ago, expires in ${timeWords(expiresAt - now)}`;
  const line = (label: string, text: string | undefined) =>
    text === undefined ? [] : [`  ${label.padEnd(9)}${hanging(safe(text), 11, terminal)}`];
  const width = screenWidth(terminal) - 2;
  const isWhole = !terminal.isScreen;
  const args = argumentLines(question.arguments, { width, isWhole });
  const exactly = exact === undefined ? [] : markedText(exact, width - 2);
  const exactlyShown = isWhole ? exactly : cutLines(exactly, mostExact);
  const isCut = args.isCut || exactlyShown.length < exactly.length;
  return [
    `${paint("bold", safe(id))}  ${paint("dim", times)}`,
    ...callHeading(question).flatMap((part, index) => line(index === 0 ? "Tool" : "", part)),
    ...args.lines.map((one) => `  ${one}`),
    ...(exactly.length > 0 ? ["  Exactly:", ...exactlyShown.map((one) => `    ${one}`)] : []),
    ...(isCut ? ["  Cut to fit the screen: `plugboard approvals --json` shows everything."] : []),
    ...line("Effects", effectWords(annotations)),
    ...line("Reason", reasonWords(question)),
    ...line("Note", question.forgotten),
    ...line("Caller", caller),
    ...line("Always", remember.always),
  ];
}

function reasonWords({ because, rule }: WaitingQuestion): string {
  if (!rule) return because;
  const { path, file, line } = rule;
  const place = file === undefined ? "" : `, ${file}${line === undefined ? "" : `:${line}`}`;
  return `${because} (${path}${place})`;
}

function timeWords(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
    [1_000, "second"],
  ];
  const [size, unit] = units.find(([least]) => ms >= least) ?? [1_000, "second"];
  return count(Math.max(0, Math.floor(ms / size)), unit);
}
