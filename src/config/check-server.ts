import { isRecord, own } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import { overruledRules } from "./approval/mistakes.ts";
import { brief, check } from "./diagnose.ts";
import type { Finding } from "./diagnose.ts";
import type { Path } from "./documents/document.ts";
import { serverSchema } from "./server-schema.ts";
import type { ServerConfig } from "./server-schema.ts";
import { shownArgs, shownWord } from "./show/references.ts";
import { hasOpenReference, isNestedTooDeeply, maxNesting, referencesIn } from "./template.ts";

/** Checks one server entry as written: first each field against the schema, then how the fields fit together. */
export function checkServer(written: unknown, path: Path): { config?: ServerConfig; findings: Finding[] } {
  if (!isRecord(written)) return { findings: [{ severity: "error", path, message: "expected an object" }] };
  const { entry, findings: ignoredFields } = normalise(written, path);
  const { data, findings: found } = check(serverSchema, entry, path);
  const findings = found.map(suggestAlias);
  const all = [
    ...ignoredFields,
    ...findings,
    ...checkTransport(entry, path, findings),
    ...checkFieldValues(entry, path),
    ...(data ? checkNesting(entry, path) : []),
    ...(data ? referenceFields.flatMap((key) => checkClosed(entry[key], [...path, key])) : []),
    ...overruledRules(data?.approval, [...path, "approval"]),
  ];
  return all.some((finding) => finding.severity === "error") || !data
    ? { findings: all }
    : { config: data, findings: all };
}

const typeNames: Record<string, string> = {
  "streamable-http": "http",
  streamableHttp: "http",
  "http-stream": "http",
  remote: "http",
  local: "stdio",
};

/** Fields that other clients write to a shared `.mcp.json` and Plugboard does not use. */
const foreignFields = new Set(["autoApprove", "alwaysAllow", "gallery", "icon", "metadata", "version"]);

/** Other clients' spellings of our fields. */
export const fieldAliases: ReadonlyMap<string, string> = new Map([
  ["disabled", "enabled"],
  ["timeout", "callTimeoutMs"],
  ["request_timeout_ms", "callTimeoutMs"],
]);

/** The schema does not know other clients' spellings, so a typo of one of those gets its suggestion here. */
function suggestAlias(finding: Finding): Finding {
  const key = String(finding.path.at(-1));
  // The name is right, so the value is wrong: `normalise` takes no other.
  if (fieldAliases.has(key) && finding.message.startsWith("unknown field"))
    return key === "disabled"
      ? { ...finding, message: "expected true or false", suggestion: "for example true" }
      : { ...finding, message: "expected a number of milliseconds", suggestion: "for example 30000" };
  const near = finding.suggestion?.startsWith("remove it") ? nearest(key, fieldAliases.keys()) : undefined;
  return near === undefined ? finding : { ...finding, suggestion: `did you mean \`${near}\`?` };
}

/** Converts other clients' spellings to ours and drops notes (`x-…`, `_comment`). */
function normalise(
  written: Record<string, unknown>,
  path: Path,
): { entry: Record<string, unknown>; findings: Finding[] } {
  const entry: Record<string, unknown> = {};
  const findings: Finding[] = [];
  for (const [key, value] of Object.entries(written)) {
    if (isNote(key)) continue;
    if (key === "disabled" && typeof value === "boolean") entry["enabled"] ??= !value;
    else if ((key === "timeout" || key === "request_timeout_ms") && typeof value === "number") {
      // In clients that have `timeout`, it is a hard limit that progress does not extend.
      entry["callTimeoutMs"] ??= value;
      entry["maxCallTimeoutMs"] ??= value;
    } else if (key === "type" && typeof value === "string") entry["type"] = own(typeNames, value) ?? value;
    else if (key === "env" && isRecord(value)) entry["env"] = textValues(value);
    else if (foreignFields.has(key)) {
      findings.push({
        severity: "warning",
        path: [...path, key],
        message: `Plugboard does not use \`${key}\`; it is ignored`,
      });
    } else Object.defineProperty(entry, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return { entry, findings };
}

/** People write `"PORT": 8080`; environment variables are strings. */
function textValues(values: Record<string, unknown>): Record<string, unknown> {
  const toText = (value: unknown) =>
    typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toText(value)]));
}

export function isNote(key: string): boolean {
  return key.startsWith("x-") || key === "_comment" || key === "$comment" || key === "//";
}

/**
 * Checks that the entry has either a command or a URL, and that `type` agrees with it. Reports nothing when a
 * misspelt field name already explains what is missing.
 */
function checkTransport(entry: Record<string, unknown>, path: Path, findings: readonly Finding[]): Finding[] {
  const error = (message: string, suggestion: string, ...at: string[]): Finding[] => [
    { severity: "error", path: [...path, ...at], message, suggestion },
  ];
  const { type, command, url } = entry;
  if (type === "ws") return [];
  if (command !== undefined && url !== undefined) {
    return error("`command` and `url` cannot be used together", "keep one of them", "url");
  }
  if (command === undefined && url === undefined) {
    const isExplained = findings.some(({ suggestion = "" }) => /`(command|url)`/.test(suggestion));
    if (isExplained) return [];
    return error("`command` or `url` is missing", "add `command` for a program or `url` for a remote server");
  }
  if (type === "stdio" && url !== undefined)
    return error("a `stdio` server needs `command`, not `url`", 'use `"type": "http"`', "type");
  if ((type === "http" || type === "sse") && command !== undefined) {
    return error(
      `a server of type \`${type}\` needs \`url\`, not \`command\``,
      'use `"type": "stdio"`',
      "type",
    );
  }
  return [];
}

/** Longer ones are not written out in a suggestion. */
const longestCommand = 500;

/** What an entry sends to its server. */
export const sentFields = [
  "headers",
  "headersFromEnv",
  "bearerTokenEnv",
  "headersHelper",
  "oauth",
  "auth",
] as const satisfies readonly (keyof ServerConfig)[];

const remoteOnly = [...sentFields, "network"];
const stdioOnly = ["args", "cwd", "env", "inheritEnv", "sandbox"];

function checkFieldValues(entry: Record<string, unknown>, path: Path): Finding[] {
  const findings: Finding[] = [];
  const report: Report = (severity, at, message, suggestion) =>
    findings.push({ severity, path: [...path, ...at], message, ...(suggestion ? { suggestion } : {}) });
  const { command, url, callTimeoutMs: call, maxCallTimeoutMs: max } = entry;
  const foreign = typeof command === "string" ? remoteOnly : typeof url === "string" ? stdioOnly : [];
  const kind = typeof command === "string" ? "stdio" : "remote";
  for (const key of foreign.filter((name) => entry[name] !== undefined)) {
    report("warning", [key], `\`${key}\` has no effect on a ${kind} server`);
  }
  if (
    typeof command === "string" &&
    /\s/.test(command.trim()) &&
    entry["args"] === undefined &&
    !/[/\\]/.test(command)
  ) {
    const [program = "", ...rest] = command.trim().slice(0, longestCommand).split(/\s+/);
    report(
      "error",
      ["command"],
      "`command` takes only the program; its arguments go in `args`",
      command.length > longestCommand
        ? "move everything behind the program to `args`"
        : `write "command": "${shownWord(program)}", "args": ${JSON.stringify(shownArgs(rest))}`,
    );
  }
  if (typeof command === "string" && /^[a-z][a-z0-9+.-]*:\/\//i.test(command))
    report("error", ["command"], "a program is expected here, not an address", "use `url`");
  if (typeof url === "string") checkUrl(url, report);
  if (typeof call === "number" && typeof max === "number" && max < call) {
    report("error", ["maxCallTimeoutMs"], "must not be smaller than `callTimeoutMs`");
  }
  if (
    isRecord(entry["tools"]) &&
    Array.isArray(entry["tools"]["allow"]) &&
    entry["tools"]["allow"].length === 0
  ) {
    report(
      "error",
      ["tools", "allow"],
      "an empty `allow` list hides every tool",
      "remove `allow` to offer all tools, or set `enabled` to false",
    );
  }
  if (isRecord(entry["headers"])) checkHeaders(entry["headers"], report);
  if (isRecord(entry["env"])) {
    for (const name of Object.keys(entry["env"]).filter((key) => key === "" || /[=\0]/.test(key))) {
      report("error", ["env", name], "this is not a valid variable name");
    }
  }
  return findings;
}

/** References in each other's defaults are read one level at a time, so there is a limit to them. */
function checkNesting(value: unknown, path: Path): Finding[] {
  if (typeof value === "string")
    return isNestedTooDeeply(value)
      ? [{ severity: "error", path, message: `\`\${…}\` stands in more than ${maxNesting} others` }]
      : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => checkNesting(member, [...path, key]));
}

/** The fields in which `${…}` is a reference. */
const referenceFields = ["command", "args", "env", "url", "headers", "cwd", "oauth", "network"];

/** What follows a `${` that is never closed is passed on as it is written, which is hardly what was meant. */
function checkClosed(value: unknown, path: Path): Finding[] {
  if (typeof value === "string")
    return hasOpenReference(value)
      ? [
          {
            severity: "warning",
            path,
            message: "a `${` is never closed, so it is passed on as it is written",
            suggestion: "close it with `}`, or write `$${` for a literal `${`",
          },
        ]
      : [];
  if (Array.isArray(value)) return value.flatMap((item, at) => checkClosed(item, [...path, at]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => checkClosed(member, [...path, key]));
}

type Report = (severity: Finding["severity"], at: string[], message: string, suggestion?: string) => void;

function checkUrl(url: string, report: Report): void {
  if (referencesIn(url).length > 0) return;
  const parsed = URL.parse(url);
  if (!parsed) {
    const hasScheme = /^https?:\/\//i.test(url);
    report(
      "error",
      ["url"],
      "this is not a valid URL",
      hasScheme ? "check its host and port" : "start it with https://",
    );
  } else if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    report("error", ["url"], `\`${brief(parsed.protocol)}\` is not supported`, "use an http: or https: URL");
  } else if (parsed.username || parsed.password) {
    report(
      "error",
      ["url"],
      "a URL must not contain a user name or password",
      "use `headers` with a `${secret:…}` reference",
    );
  }
}

function checkHeaders(headers: Record<string, unknown>, report: Report): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      report("error", ["headers", name], "this is not a valid header name");
    else if (typeof value === "string" && /[\r\n\0]/.test(value)) {
      report("error", ["headers", name], "a header value must not contain a line break");
    }
  }
}
