import { PlugboardError } from "../errors.ts";
import { shellWord } from "../lib/argv.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import { parseEnvFile } from "./env-file.ts";
import type { EnvFile } from "./env-file.ts";
import { resolvePath } from "./expand.ts";
import { positionOf } from "./model.ts";
import type { Diagnostic, LoadedConfig, Origin } from "./model.ts";
import type { Settings } from "./schema.ts";
import { shownWord } from "./show/references.ts";
import type { ReadSource } from "./sources.ts";

const maxBytes = 256 * 1024;

/**
 * Looks a secret up in the `.env` files that the user's configuration names; the first file that has it wins. A file
 * that exists but cannot be read is an error, because a later one could have a value for another account.
 */
export async function secretFromFiles(settings: Settings, name: string): Promise<string | undefined> {
  for (const path of settings.secrets?.envFiles ?? []) {
    const { values, refusal, isMissing } = await readSecretFile(path);
    if (refusal !== undefined && !isMissing) throw unreadable(name, path, refusal);
    const value = values.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A `.env` file of a configuration, and the names of the secrets in it. */
export interface NamedSecrets {
  file: string;
  names: string[];
  /** Why it cannot be read. */
  problem?: string;
}

export async function secretFiles({ settings }: LoadedConfig): Promise<NamedSecrets[]> {
  return Promise.all(
    (settings.secrets?.envFiles ?? []).map(async (file) => {
      const { values, refusal } = await readSecretFile(file);
      return { file, names: [...values.keys()].sort(), ...(refusal !== undefined && { problem: refusal }) };
    }),
  );
}

/** Makes the paths of a source's `.env` files absolute. */
export function withSecretPaths(source: ReadSource, home: string): ReadSource {
  const { baseDir, parsed } = source;
  if (parsed.settings.secrets === undefined) return source;
  return { ...source, parsed: { ...parsed, settings: withAbsolutePaths(parsed.settings, baseDir, home) } };
}

export function withAbsolutePaths(settings: Settings, baseDir: string, home: string): Settings {
  const files = settings.secrets?.envFiles ?? [];
  return { ...settings, secrets: { envFiles: files.map((file) => resolvePath(file, baseDir, home)) } };
}

/** Checks the files without showing what is in them. */
export async function checkSecretFiles(
  settings: Settings,
  origin: Origin = { scope: "override" },
): Promise<Diagnostic[]> {
  const diagnostics = await Promise.all(
    (settings.secrets?.envFiles ?? []).map(async (file, index) => {
      const about = { path: `secrets.envFiles[${index}]`, ...positionOf(origin) };
      return (await problemsOf(file)).map((problem): Diagnostic => ({ ...problem, ...about }));
    }),
  );
  return diagnostics.flat();
}

type Problem = Pick<Diagnostic, "severity" | "message" | "suggestion">;

async function problemsOf(path: string): Promise<Problem[]> {
  const { mode = 0, refusal, mistakes } = await readSecretFile(path);
  if (refusal !== undefined) return [{ severity: "warning", message: `${shownWord(path)} ${refusal}` }];
  const isOpen = process.platform !== "win32" && (mode & 0o077) !== 0;
  return [
    ...(isOpen ? [readableByOthers(path, mode)] : []),
    ...mistakes.slice(0, 10).map(({ line, message }): Problem => ({
      severity: "warning",
      message: `${path}:${line}: ${message}`,
    })),
  ];
}

function readableByOthers(path: string, mode: number): Problem {
  return {
    severity: "warning",
    message: `${path} is accessible to other users (mode ${(mode & 0o777).toString(8)})`,
    suggestion: `run \`chmod 600 ${shellWord(path)}\``,
  };
}

function unreadable(name: string, path: string, refusal: string): PlugboardError {
  const message = `The secret ${name} cannot be looked up, because ${shownWord(path)} ${refusal}.`;
  const hint = "Make the file readable, or remove it from `secrets.envFiles`.";
  return new PlugboardError("value-missing", message, { data: { secret: name, file: path }, hint });
}

interface SecretFile extends EnvFile {
  mode?: number;
  isMissing?: boolean;
  /** Why it cannot be read. */
  refusal?: string;
}

/** Read for every lookup, because the file may change at any time. */
async function readSecretFile(path: string): Promise<SecretFile> {
  const read = await readBoundedFile(path, maxBytes);
  if (read.kind === "text") return { ...parseEnvFile(read.text), mode: read.mode };
  const isMissing = read.kind === "missing";
  return { values: new Map(), mistakes: [], isMissing, refusal: isMissing ? "does not exist" : read.reason };
}
