import { isRecord } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import { check } from "./diagnose.ts";
import type { Finding } from "./diagnose.ts";
import type { Path } from "./documents/document.ts";
import { serverSchema } from "./server-schema.ts";
import type { ServerConfig } from "./server-schema.ts";
import { referencesIn } from "./template.ts";

/** Checks one server entry as written: the schema first, then what only the fields together can tell. */
export function checkServer(written: unknown, path: Path): { config?: ServerConfig; findings: Finding[] } {
  if (!isRecord(written)) return { findings: [{ severity: "error", path, message: "expected an object" }] };
  const { entry, findings: notes } = normalise(written, path);
  const { data, findings: found } = check(serverSchema, entry, path);
  const findings = found.map(suggestAlias);
  const all = [...notes, ...findings, ...transport(entry, path, findings), ...details(entry, path)];
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

/** Fields that other clients write into a shared `.mcp.json` and that mean nothing here. */
const foreignFields = new Set([
  "autoApprove",
  "alwaysAllow",
  "description",
  "gallery",
  "icon",
  "metadata",
  "version",
]);

/** Misspelt names that we know only as another client's spelling. */
function suggestAlias(finding: Finding): Finding {
  const key = String(finding.path.at(-1));
  const near = finding.suggestion?.startsWith("remove it")
    ? nearest(key, ["timeout", "disabled"])
    : undefined;
  return near === undefined ? finding : { ...finding, suggestion: `did you mean \`${near}\`?` };
}

/** Other spellings of the same thing become ours; notes (`x-…`, `_comment`) fall away. */
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
      // Where people write `timeout`, it is a hard limit that progress does not extend.
      entry["callTimeoutMs"] ??= value;
      entry["maxCallTimeoutMs"] ??= value;
    } else if (key === "type" && typeof value === "string") entry["type"] = typeNames[value] ?? value;
    else if (key === "env" && isRecord(value)) entry["env"] = textValues(value);
    else if (foreignFields.has(key)) {
      findings.push({
        severity: "warning",
        path: [...path, key],
        message: `\`${key}\` has no meaning here and is ignored`,
      });
    } else Object.defineProperty(entry, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return { entry, findings };
}

/** `"PORT": 8080` means what it looks like. */
function textValues(values: Record<string, unknown>): Record<string, unknown> {
  const toText = (value: unknown) =>
    typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toText(value)]));
}

export function isNote(key: string): boolean {
  return key.startsWith("x-") || key === "_comment" || key === "$comment" || key === "//";
}

/** Exactly one way to reach the server. Silent when a misspelt name already explains what is missing. */
function transport(entry: Record<string, unknown>, path: Path, findings: readonly Finding[]): Finding[] {
  const error = (message: string, suggestion: string, ...at: string[]): Finding[] => [
    { severity: "error", path: [...path, ...at], message, suggestion },
  ];
  const { type, command, url } = entry;
  if (type === "ws") return [];
  if (command !== undefined && url !== undefined) {
    return error("`command` and `url` exclude each other", "keep one of them", "url");
  }
  if (command === undefined && url === undefined) {
    const isExplained = findings.some(({ suggestion = "" }) => /`(command|url)`/.test(suggestion));
    if (isExplained) return [];
    return error(
      "neither `command` nor `url` is there",
      "add `command` for a program or `url` for a remote server",
    );
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

const remoteOnly = [
  "headers",
  "headersFromEnv",
  "bearerTokenEnv",
  "headersHelper",
  "oauth",
  "auth",
  "network",
];
const stdioOnly = ["args", "cwd", "env", "inheritEnv", "sandbox"];

function details(entry: Record<string, unknown>, path: Path): Finding[] {
  const findings: Finding[] = [];
  const say = (severity: Finding["severity"], at: string[], message: string, suggestion?: string) =>
    findings.push({ severity, path: [...path, ...at], message, ...(suggestion ? { suggestion } : {}) });
  const { command, url, callTimeoutMs: call, maxCallTimeoutMs: max } = entry;
  const foreign = typeof command === "string" ? remoteOnly : typeof url === "string" ? stdioOnly : [];
  const kind = typeof command === "string" ? "stdio" : "remote";
  for (const key of foreign.filter((name) => entry[name] !== undefined)) {
    say("warning", [key], `\`${key}\` has no effect on a ${kind} server`);
  }
  if (
    typeof command === "string" &&
    /\s/.test(command.trim()) &&
    entry["args"] === undefined &&
    !/[/\\]/.test(command)
  ) {
    const [program = "", ...rest] = command.trim().split(/\s+/);
    say(
      "error",
      ["command"],
      "`command` is one program, its arguments belong in `args`",
      `write "command": "${program}", "args": ${JSON.stringify(rest)}`,
    );
  }
  if (typeof url === "string") checkUrl(url, say);
  if (typeof call === "number" && typeof max === "number" && max < call) {
    say("error", ["maxCallTimeoutMs"], "must not be smaller than `callTimeoutMs`");
  }
  if (
    isRecord(entry["tools"]) &&
    Array.isArray(entry["tools"]["allow"]) &&
    entry["tools"]["allow"].length === 0
  ) {
    say(
      "error",
      ["tools", "allow"],
      "an empty allow list would hide every tool",
      "leave `allow` out to offer all tools, or set `enabled` to false",
    );
  }
  if (isRecord(entry["headers"])) checkHeaders(entry["headers"], say);
  if (isRecord(entry["env"])) {
    for (const name of Object.keys(entry["env"]).filter((key) => key === "" || /[=\0]/.test(key))) {
      say("error", ["env", name], "this is not a name that a variable can have");
    }
  }
  return findings;
}

type Say = (severity: Finding["severity"], at: string[], message: string, suggestion?: string) => void;

function checkUrl(url: string, say: Say): void {
  if (referencesIn(url).length > 0) return;
  const parsed = URL.parse(url);
  if (!parsed) say("error", ["url"], "this is not a URL", "start it with https://");
  else if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    say("error", ["url"], `\`${parsed.protocol}\` is not supported`, "use an http: or https: URL");
  } else if (parsed.username || parsed.password) {
    say(
      "error",
      ["url"],
      "a URL must not hold a user name or password",
      "use `headers` with a `${secret:…}` reference",
    );
  }
}

function checkHeaders(headers: Record<string, unknown>, say: Say): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      say("error", ["headers", name], "this is not a valid header name");
    else if (typeof value === "string" && /[\r\n\0]/.test(value)) {
      say("error", ["headers", name], "a header value must not hold a line break");
    }
  }
}
