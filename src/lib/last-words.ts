import { stripVTControlCharacters } from "node:util";
import { issuesInWords } from "./issue-words.ts";
import { printable } from "./printable.ts";

const maxCharacters = 300;

/**
 * The line that explains why a program ended, from what it wrote to stderr: the message of its error, not the stack,
 * the properties or the version of the runtime below it. One line, safe to print; empty if there is none.
 */
export function lastWords(stderr: string): string {
  const lines = linesOf(stderr);
  const last = lines.findLastIndex((line) => line !== "" && !isNoise(line));
  const line = lines[headOf(lines, last)] ?? lines.findLast((one) => one !== "") ?? "";
  const cause =
    line === "" || systemCall.test(line) ? undefined : systemCall.exec(stderr.slice(-causeCharacters));
  return cause ? `${shown(line)} (${shown(cause[0])})` : shown(line);
}

/** The system's words for a connection that failed, which often stand in a cause or above the last error. */
const systemCall = /\b(?:connect|getaddrinfo) E[A-Z_]{3,30} [\w.:[\]-]{1,200}/;
const causeCharacters = 2_000;

/** The last lines with something to say, oldest first, among them the one that explains the end. */
export function lastLines(stderr: string, count: number): string[] {
  const lines = linesOf(stderr);
  const last = lines.findLastIndex((line) => line !== "" && !isNoise(line));
  const head = headOf(lines, last);
  const told = lines.slice(0, last + 1).flatMap((line, at) => (line !== "" && !isNoise(line) ? [at] : []));
  const chosen = told.slice(-count);
  if (head !== -1 && !chosen.includes(head)) chosen.splice(0, 1, head);
  return chosen.map((at) => shown(lines[at] ?? ""));
}

function linesOf(stderr: string): string[] {
  const lines = stripVTControlCharacters(issuesInWords(stderr))
    .split("\n")
    .map((line) => line.trimEnd());
  return withoutUsage(lines);
}

/** Leaves out how to use the program where an error stands above it. Some programs print it first, and the error below. */
function withoutUsage(lines: string[]): string[] {
  const usage = lines.findIndex((line) => /^\s*usage\b/i.test(line));
  if (usage === -1) return lines;
  const isError = (line: string) => /^\S/.test(line) && namesProblem(line);
  if (lines.slice(0, usage).some(isError))
    return lines.slice(usage).some(isHead) ? lines : lines.slice(0, usage);
  // A program that only says how it is used was started in another way.
  const isAll = /^\s*usage\s*:/i.test(lines[usage] ?? "") && !lines.slice(usage).some(isError);
  return isAll ? lines.slice(0, usage + 1) : lines;
}

function shown(line: string): string {
  return printable(line.trim().replace(/ \{$/, ""), { oneLine: true }).slice(0, maxCharacters);
}

/** An error's message may have several lines, and below them its stack; its first line says the most. */
function headOf(lines: readonly string[], last: number): number {
  const isInside = /^\s/.test(lines[last] ?? "") || lines.slice(last + 1).some(isStack);
  const npm = lines[last]?.startsWith("npm ") === true;
  if (!isInside && !npm) return errorAbove(lines, last);
  let head = last;
  for (let at = last; at >= 0 && lines[at] !== ""; at--) {
    if (npm && /^npm (?:error|ERR!) (?!code\b)\S.*\s\S/.test(lines[at] ?? "")) head = at;
    else if (!npm && isHead(lines[at] ?? "")) return at;
  }
  return npm ? head : errorAbove(lines, last);
}

/** Advice often follows an error. The nearest line above that names one explains more than a last line that does not. */
function errorAbove(lines: readonly string[], last: number): number {
  if (last === -1 || isHead(lines[last] ?? "")) return last;
  const isWeak = namesProblem(lines[last] ?? "") && !isCause.test(lines[last] ?? "");
  let found = last;
  for (let at = last - 1; at >= Math.max(0, last - mostAdvice); at--) {
    const line = lines[at] ?? "";
    // What stands in another paragraph, or has a stack, may be an earlier trouble that was overcome.
    if (line === "" && (isWeak || found !== last)) break;
    if (isStack(line)) break;
    if (isHead(line)) return at;
    if (!isWeak && found === last && namesProblem(line)) found = at;
  }
  return found;
}

const mostAdvice = 20;
/** Below the error that says what to do about it. */
const isCause = /^(?:original|underlying|inner|root) (?:error|cause)\b/i;

function namesProblem(line: string): boolean {
  return (
    isHead(line) ||
    /\b(?:errors?:|error|exception|fatal|failed|cannot|can't|could not|unable|missing|required|deprecated|invalid|not found|denied|refused|unauthorized|must be set|not set)\b/i.test(
      line,
    )
  );
}

function isHead(line: string): boolean {
  const said = line.replace(/^(?:\[[^\]]{1,40}\] )+/, "");
  return /^(?:Uncaught |Caused by: )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception|Interrupt|Fault)\b|^(?:panic|fatal|error|problem)\b|^\s*╰─▶/i.test(
    said,
  );
}

function isNoise(line: string): boolean {
  return isStack(line) || noise.some((pattern) => pattern.test(line));
}

/** A frame of a stack, a property of an error, or the source with a mark below the mistake. */
function isStack(line: string): boolean {
  return stack.some((pattern) => pattern.test(line));
}

const stack = [
  /^\s+at /,
  /^\s*[\^~]+\s*$/,
  /^\s+\.\.\. \d+ more/,
  /^\s+from .+:\d+/,
  /^\s+[\w$[\]()]+: .*,?$/,
  /^\s*[}\])]+,?$/,
  /^\s+\/.*:\d+ \+0x[\da-f]+$/,
  /^\s+\d+: /,
  /^[\w./*]+\([^)]*\)$/,
];

const noise = [
  /^(?:Node\.js|Bun|Deno) v?\d/,
  /^\(Use `node --trace/,
  /^goroutine \d+ \[/,
  /^exit status \d+$/,
  /^stack backtrace:$/,
  /^note: /,
  /^npm warn /i,
  /^npm (?:error|ERR!) A complete log of this run/,
  /^npm (?:error|ERR!)(?: \d+)?$/,
  /^(?:Run|See|Try) .*--help/,
];
