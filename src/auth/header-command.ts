import { execFile } from "node:child_process";
import type { Environment } from "../lib/folders.ts";
import { isRecord } from "../lib/record.ts";
import { PlugboardError } from "../errors.ts";
import type { ServerAuth } from "./server-auth.ts";

const limitMs = 10_000;
const longestBytes = 65_536;

interface HeadersHelper {
  server: string;
  command: readonly [string, ...string[]];
  cwd: string;
  env: Environment;
  /** Fails if the command is no longer what was trusted. */
  assertTrusted?: (() => Promise<void>) | undefined;
}

/** Headers that a user's command prints. It runs when they are first needed, and again when the server refuses them. */
export class HelperHeaders implements ServerAuth {
  readonly source = "Check the command in `headersHelper`, which supplies the credentials.";
  readonly #helper: HeadersHelper;
  #headers: Promise<Record<string, string>> | undefined;
  #secrets: string[] = [];
  #rerun: Promise<Record<string, string>> | undefined;

  constructor(helper: HeadersHelper) {
    this.#helper = helper;
  }

  headers(): Promise<Record<string, string>> {
    this.#headers ??= this.#run();
    return this.#headers;
  }

  secrets(): string[] {
    return this.#secrets;
  }

  async renew(): Promise<void> {
    // If several requests are refused at the same time, the command runs once for all of them.
    this.#rerun ??= this.#run();
    this.#headers = this.#rerun;
    try {
      await this.#rerun;
    } finally {
      this.#rerun = undefined;
    }
  }

  #run(): Promise<Record<string, string>> {
    const headers = runHeadersHelper(this.#helper).then((printed) => {
      this.#secrets = Object.values(printed)
        .flatMap((value) => value.split(/\s+/))
        .filter(maybeSecret);
      return printed;
    });
    headers.catch(() => {
      if (this.#headers === headers) this.#headers = undefined;
    });
    return headers;
  }
}

/** Short words (a scheme, a flag) are not secrets, and hiding them would garble other texts. */
function maybeSecret(word: string): boolean {
  return word.length >= 8;
}

/** Runs a user's command that prints headers. Its output is secret, so no message repeats any of it. */
async function runHeadersHelper(helper: HeadersHelper): Promise<Record<string, string>> {
  const { server, command, cwd, env } = helper;
  await helper.assertTrusted?.();
  const [program, ...args] = command;
  const output = await new Promise<string>((resolve, reject) => {
    const options = { cwd, env: { ...env }, timeout: limitMs, maxBuffer: longestBytes, shell: false };
    const child = execFile(program, args, { ...options, killSignal: "SIGKILL" }, (error, stdout) => {
      if (error) reject(failed(server, program, reasonOf(error)));
      else resolve(stdout);
    });
    child.stdin?.end();
  });
  const headers = parseHeaders(output);
  if (!headers) throw failed(server, program, "printed neither JSON nor `Name: value` lines");
  return headers;
}

/** Accepts `{"Name": "value"}` or one `Name: value` line per header. */
function parseHeaders(output: string): Record<string, string> | undefined {
  const text = output.trim();
  const pairs = text.startsWith("{") ? jsonPairs(text) : linePairs(text);
  const isUsable = pairs?.every(
    ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  );
  return pairs && pairs.length > 0 && isUsable ? Object.fromEntries(pairs) : undefined;
}

function jsonPairs(text: string): [string, string][] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || !Object.values(value).every((one) => typeof one === "string")) return undefined;
    return Object.entries(value as Record<string, string>);
  } catch {
    return undefined;
  }
}

function linePairs(text: string): [string, string][] | undefined {
  const pairs = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map(linePair);
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

function linePair(line: string): [string, string] | undefined {
  const colon = line.indexOf(":");
  return colon > 0 ? [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] : undefined;
}

function reasonOf(error: Error & { code?: unknown; killed?: boolean }): string {
  if (error.code === "ENOENT") return "was not found";
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "printed more than 64 kB";
  if (error.killed) return `did not finish within ${limitMs / 1000} s`;
  return typeof error.code === "number" ? `exited with code ${error.code}` : "could not be run";
}

function failed(server: string, program: string, why: string): PlugboardError {
  return new PlugboardError("auth-failed", `The headers helper ${program} of "${server}" ${why}.`, {
    server,
    hint: "Run it by hand; it must print JSON or `Name: value` lines within ten seconds.",
  });
}
