import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { chainVariable } from "../../config/loops.ts";
import type { ServerConfig } from "../../config/server-schema.ts";
import { PlugboardError } from "../../errors.ts";
import type { Environment } from "../../lib/folders.ts";
import { matchesAny } from "../../lib/glob.ts";
import { ownerVariable } from "./environment.ts";
import { findProgram, type Launch } from "./launcher.ts";

export type SandboxSetting = NonNullable<ServerConfig["sandbox"]>;
type Profile = Exclude<SandboxSetting, string>;

export interface SandboxedProgram {
  file: string;
  args: string[];
  /** The environment of bubblewrap itself; the server's own is part of `options`. */
  env: Record<string, string>;
  /** For `--args 3`: written to descriptor 3, because every user of the machine can read argv. */
  options: string;
}

/** The system folders that most programs need; none of the user's own files. */
const readOnly = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const settings = (
  "alternatives ca-certificates crypto-policies group hosts ld.so.cache ld.so.conf ld.so.conf.d localtime " +
  "nsswitch.conf passwd pki resolv.conf ssl"
)
  .split(" ")
  .map((name) => `/etc/${name}`);

/**
 * Wraps a program in bubblewrap: no home folder, no network unless configured, no other processes visible. Its process
 * namespace ends with bubblewrap, and bubblewrap ends with us, so even a hostile server cannot outlive us.
 */
export async function sandboxed(
  launch: Launch,
  program: string,
  setting: SandboxSetting,
  parent: Environment,
): Promise<SandboxedProgram> {
  const profile: Profile = typeof setting === "string" ? { kind: "bwrap" } : setting;
  const file = await findBubblewrap(launch, parent);
  const options: string[] = [];
  const add = (...words: string[]) => options.push(...words);
  add("--unshare-all", "--unshare-pid", "--die-with-parent");
  if (profile.network) add("--share-net");
  for (const path of [...readOnly, ...settings]) add("--ro-bind-try", path, path);
  add("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", ...home(launch.env["HOME"]));
  add(...(await binds(launch, program, profile)), "--chdir", launch.cwd, "--clearenv");
  for (const [name, value] of visible(launch.env, profile.env)) add("--setenv", name, value);
  const owner = launch.env[ownerVariable] ?? "";
  return {
    file,
    args: ["--args", "3", "--", program, ...launch.args],
    env: { PATH: "/usr/bin:/bin", [ownerVariable]: owner },
    options: options.map((option) => `${option}\0`).join(""),
  };
}

/** Searches our own PATH, because the server's could point to a fake one. */
async function findBubblewrap(launch: Launch, parent: Environment): Promise<string> {
  const env = { PATH: parent["PATH"] ?? "/usr/bin:/bin" };
  try {
    if (launch.platform !== "linux") throw new Error("bubblewrap exists on Linux only");
    return await findProgram({ ...launch, command: "bwrap", args: [], cwd: "/", env });
  } catch (cause) {
    const message = `"${launch.server}" must run in a sandbox, but bubblewrap (bwrap) is not installed; it was not started.`;
    throw new PlugboardError("spawn-failed", message, {
      server: launch.server,
      data: { command: "bwrap" },
      cause,
      hint: "Install it (`apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap`), or set `sandbox` to `none` if you trust the server.",
    });
  }
}

function home(path: string | undefined): string[] {
  return path !== undefined && isAbsolute(path) && resolve(path) !== "/" ? ["--tmpfs", path] : [];
}

/** Parents before children, so that a writable folder inside a readable one stays writable. */
async function binds(launch: Launch, program: string, profile: Profile): Promise<string[]> {
  const absolute = (paths: readonly string[] = []) => paths.map((path) => resolve(launch.cwd, path));
  const write = new Set(absolute(profile.write));
  const read = new Set([program, await realpath(program), ...absolute(profile.read)]);
  if (launch.cwd !== "/") read.add(launch.cwd);
  const wanted = [...new Set([...read, ...write])].sort((a, b) => a.length - b.length);
  const args: string[] = [];
  for (const path of wanted) {
    if (!write.has(path) && isCovered(path)) continue;
    if ((await stat(path).catch(() => undefined)) === undefined) {
      const message = `"${launch.server}" could not be started: its sandbox settings name ${path}, which does not exist.`;
      throw new PlugboardError("spawn-failed", message, { server: launch.server, data: { path } });
    }
    args.push(write.has(path) ? "--bind" : "--ro-bind", path, path);
  }
  return args;
}

function isCovered(path: string): boolean {
  return readOnly.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

const ownMarks = [ownerVariable, chainVariable];

function visible(env: Launch["env"], allowed: readonly string[] | undefined): [string, string][] {
  return Object.entries(env).filter(
    ([name]) => allowed === undefined || ownMarks.includes(name) || matchesAny(allowed, name),
  );
}
