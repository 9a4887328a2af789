import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Environment } from "../../lib/folders.ts";

/** The operating system's keychain. No method throws: a keychain may become unavailable at any time. */
export interface Keychain {
  /** Undefined does not prove that there is no value: a locked keychain answers like an empty one. */
  read(account: string): Promise<string | undefined>;
  /** True if the value was stored and could be read back. */
  write(account: string, value: string): Promise<boolean>;
  remove(account: string): Promise<void>;
  /** True if it can store values; tested once with a random value. */
  isUsable(): Promise<boolean>;
}

type Step = ["set", string, string] | ["get", string] | ["delete", string];
type Answers = readonly unknown[] | undefined;

const service = "plugboard";

/**
 * The keychain of this session; undefined if it cannot have one. On Linux, only the Secret Service is used: the library
 * would fall back to the kernel keyring, which is not persistent. macOS and Windows use their own store (not tested).
 */
export function openKeychain(
  env: Environment,
  {
    platform = process.platform,
    deadlineMs = 3000,
  }: { platform?: NodeJS.Platform; deadlineMs?: number } = {},
): Keychain | undefined {
  const library =
    env["PLUGBOARD_KEYCHAIN"] === "off" || !hasSession(env, platform) ? undefined : findLibrary();
  if (library === undefined) return undefined;
  const store = platform === "linux" ? "secret-service" : undefined;
  const ask = (steps: Step[]): Promise<Answers> =>
    runSteps({ library, store, service, steps }, env, deadlineMs);
  let usable: Promise<boolean> | undefined;
  return {
    read: async (account) => {
      const value = (await ask([["get", account]]))?.[0];
      return typeof value === "string" ? value : undefined;
    },
    write: async (account, value) =>
      (
        await ask([
          ["set", account, value],
          ["get", account],
        ])
      )?.[1] === value,
    remove: async (account) => void (await ask([["delete", account]])),
    isUsable: () => (usable ??= probe(ask)),
  };
}

async function probe(ask: (steps: Step[]) => Promise<Answers>): Promise<boolean> {
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  const account = `probe/${randomUUID()}`;
  const canary = randomUUID();
  const answers = await ask([
    ["set", account, canary],
    ["get", account],
    ["delete", account],
    ["get", account],
  ]);
  return answers?.[1] === canary && answers[3] === null;
}

/** Without a session bus the library cannot work, so it is not even loaded. */
function hasSession(env: Environment, platform: NodeJS.Platform): boolean {
  if (platform === "darwin" || platform === "win32") return true;
  if (env["DBUS_SESSION_BUS_ADDRESS"]) return true;
  return Boolean(env["XDG_RUNTIME_DIR"]) && existsSync(join(env["XDG_RUNTIME_DIR"] ?? "", "bus"));
}

function findLibrary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("@napi-rs/keyring");
  } catch {
    return undefined;
  }
}

const watcher = `
const { workerData: { parent, deadlineMs } } = require("node:worker_threads");
const end = () => process.kill(process.pid, "SIGKILL");
setTimeout(end, deadlineMs);
setInterval(() => process.ppid === parent || end(), 100);`;

/**
 * Runs in a separate process: connecting to a bus that accepts but never answers blocks the whole thread, so no timer
 * in that thread could end it. It must not outlive us either, so a second thread ends it after the deadline and when
 * our process is gone. Secrets are passed through pipes; the arguments contain only this program.
 */
const program = `
let text = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => (text += chunk)).on("end", () => {
  try {
    const { library, store, service, steps, ...workerData } = JSON.parse(text);
    const { Worker } = require("node:worker_threads");
    new Worker(${JSON.stringify(watcher)}, { eval: true, workerData }).unref();
    const { Entry } = require(library);
    const answers = steps.map(([verb, account, value]) => {
      const entry = new Entry(service, account, store ? { linux: { store } } : undefined);
      if (verb === "set") return entry.setPassword(value), true;
      return verb === "get" ? entry.getPassword() : entry.deletePassword();
    });
    process.stdout.write(JSON.stringify(answers), () => process.kill(process.pid, "SIGKILL"));
  } catch {
    process.exitCode = 1;
  }
});`;

async function runSteps(task: object, env: Environment, deadlineMs: number): Promise<Answers> {
  const { execFile } = await import("node:child_process");
  const { promise, resolve } = Promise.withResolvers<Answers>();
  const options = {
    env: keychainEnvironment(env),
    timeout: deadlineMs,
    killSignal: "SIGKILL" as const,
    cwd: "/",
  };
  const child = execFile(process.execPath, ["-e", program], options, (_error, stdout) =>
    resolve(parseAnswers(stdout)),
  );
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(JSON.stringify({ ...task, deadlineMs, parent: process.pid }));
  return promise;
}

function parseAnswers(text: string): Answers {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const passedOn =
  /^(DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|HOME|USER|LOGNAME|PATH|DISPLAY|WAYLAND_DISPLAY|SystemRoot|USERPROFILE|APPDATA|LOCALAPPDATA|TEMP)$/i;

/** Passes on only what a keychain needs: above all no passphrase, and no options that would load other code. */
function keychainEnvironment(env: Environment): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => passedOn.test(name));
  return { ...Object.fromEntries(kept), ELECTRON_RUN_AS_NODE: "1" };
}
