import { isRecord } from "./record.ts";

const mostIssues = 3;
const mostAttempts = 5;

/** A text in which the list of issues that Zod writes as JSON is replaced by its words: `API_KEY is missing`. */
export function issuesInWords(text: string): string {
  const opening = /\[\s*\{/g;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const start = opening.exec(text)?.index;
    if (start === undefined) return text;
    const end = listEnd(text, start);
    const words = end === undefined ? undefined : wordsOf(text.slice(start, end));
    if (words !== undefined) return text.slice(0, start) + words + text.slice(end);
  }
  return text;
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

function wordsOf(json: string): string | undefined {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list) || !list.every(isIssue)) return undefined;
  const shown = list.slice(0, mostIssues).map(issueWords);
  const rest = list.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

interface Issue {
  message: string;
  path: (string | number)[];
}

function isIssue(value: unknown): value is Issue {
  return isRecord(value) && typeof value["message"] === "string" && Array.isArray(value["path"]);
}

function issueWords({ message, path }: Issue): string {
  const place = path.join(".");
  if (place === "") return message;
  return /^Required$|received undefined$/.test(message) ? `${place} is missing` : `${place}: ${message}`;
}
