import { isRecord } from "./record.ts";

const mostIssues = 3;
const mostAttempts = 5;

/** A text in which the issues that Zod found stand in words, in place of JSON or an object: `API_KEY is missing`. */
export function issuesInWords(text: string): string {
  return prettyInWords(replaced(replaced(text, /\[\s*\{/g, listWords), treeOpening, treeWords));
}

interface Words {
  words: string;
  end: number;
}

/** Puts the first thing that begins like this, and is one, into words. */
function replaced(
  text: string,
  opening: RegExp,
  wordsOf: (text: string, start: number) => Words | undefined,
): string {
  const search = new RegExp(opening);
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const start = search.exec(text)?.index;
    if (start === undefined) return text;
    const found = wordsOf(text, start);
    if (found) return text.slice(0, start) + found.words + text.slice(found.end);
  }
  return text;
}

/** The list of issues, as JSON. */
function listWords(text: string, start: number): Words | undefined {
  const end = listEnd(text, start);
  if (end === undefined) return undefined;
  let list: unknown;
  try {
    list = JSON.parse(text.slice(start, end));
  } catch {
    return undefined;
  }
  if (!Array.isArray(list) || !list.every(isIssue)) return undefined;
  return { words: joined(list), end };
}

/** Where the JSON list that begins here ends. */
function listEnd(text: string, start: number): number | undefined {
  let depth = 0;
  const token = /"(?:[^"\\]|\\.)*"|[[\]{}]/gs;
  token.lastIndex = start;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    if (found[0] === "[" || found[0] === "{") depth++;
    else if ((found[0] === "]" || found[0] === "}") && --depth === 0) return token.lastIndex;
  }
  return undefined;
}

/** What `format`, `flatten` and `treeifyError` make of the issues; printed as JSON or by Node. */
const treeOpening = /\{\s*["']?(?:_?errors|formErrors)["']?\s*:\s*\[/g;
const treeParts = /^(?:_?errors|formErrors|fieldErrors|properties|items)?$/;

function treeWords(text: string, start: number): Words | undefined {
  const token = /"((?:[^"\\]|\\.)*)"(\s*:)?|'((?:[^'\\]|\\.)*)'(\s*:)?|([\w$.-]+)\s*:|[[\]{}]/gs;
  token.lastIndex = start;
  const around: { part: string; isList: boolean }[] = [];
  const issues: Issue[] = [];
  let part = "";
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [mark, quoted, isKey, single, isSingleKey, name] = found;
    const words = quoted ?? single;
    if (mark === "[" || mark === "{") {
      around.push({ part, isList: mark === "[" });
      part = "";
    } else if (mark === "]" || mark === "}") {
      around.pop();
      if (around.length > 0) continue;
      return issues.length === 0 ? undefined : { words: joined(issues), end: token.lastIndex };
    } else if (words === undefined || isKey !== undefined || isSingleKey !== undefined) {
      part = words ?? name ?? "";
    } else if (around.at(-1)?.isList === true) {
      const path = around.map((one) => one.part).filter((one) => !treeParts.test(one));
      issues.push({ message: words, path });
    }
  }
  return undefined;
}

/** What `prettifyError` makes of the issues: two lines for each. */
function prettyInWords(text: string): string {
  if (!text.includes("✖ ")) return text;
  const lines: (string | Issue[])[] = [];
  const source = text.split("\n");
  for (let at = 0; at < source.length; at++) {
    const line = source[at] ?? "";
    const [, place] = /^\s+→ at (\S+)$/.exec(source[at + 1] ?? "") ?? [];
    if (!line.startsWith("✖ ") || place === undefined) {
      lines.push(line);
      continue;
    }
    const issue = { message: line.slice(2), path: [place] };
    const last = lines.at(-1);
    if (typeof last === "object") last.push(issue);
    else lines.push([issue]);
    at++;
  }
  return lines.map((line) => (typeof line === "string" ? line : joined(line))).join("\n");
}

interface Issue {
  message: string;
  path: (string | number)[];
}

function isIssue(value: unknown): value is Issue {
  return isRecord(value) && typeof value["message"] === "string" && Array.isArray(value["path"]);
}

function joined(issues: readonly Issue[]): string {
  const shown = issues.slice(0, mostIssues).map(issueWords);
  const rest = issues.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

function issueWords({ message, path }: Issue): string {
  const place = path.join(".");
  if (place === "") return message;
  return /^Required$|received undefined$/.test(message) ? `${place} is missing` : `${place}: ${message}`;
}
