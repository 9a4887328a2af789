import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { PlugboardError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";
import { isProgramPath, programCandidates, programFolders } from "../../lib/program-path.ts";

export interface Launch {
  server: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** The server's environment; its PATH is searched for the command. */
  env: Readonly<Record<string, string>>;
  platform: NodeJS.Platform;
}

/** Finds the program the way a shell does. Throws `spawn-failed` with a specific message for each kind of failure. */
export async function findProgram(launch: Launch): Promise<string> {
  const { command, cwd, platform } = launch;
  refuseNul(launch);
  const folder = await stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory()) {
    const what = folder ? "is not a folder" : "does not exist";
    throw spawnFailed(launch, `its working folder ${cwd} ${what}`, {
      hint: "Correct `cwd` or create the folder.",
    });
  }
  let unusable: string | undefined;
  for (const candidate of programCandidates(launch)) {
    const found = await stat(candidate).catch(() => undefined);
    if (found === undefined) continue;
    if (found.isFile() && (await mayExecute(candidate))) return candidate;
    unusable ??= found.isDirectory() ? `${candidate} is a folder` : `${candidate} is not executable`;
  }
  if (unusable !== undefined) {
    throw spawnFailed(launch, unusable, { hint: `Make it executable (chmod +x) or correct \`command\`.` });
  }
  throw notFound(launch, isProgramPath(command, platform) ? [] : programFolders(launch));
}

/** Explains why a program that exists could not be started. */
export async function explainSpawnError(
  launch: Launch,
  program: string,
  error: unknown,
): Promise<PlugboardError> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const interpreter = code === "ENOENT" || code === "EACCES" ? await readInterpreter(program) : undefined;
  if (interpreter !== undefined) {
    const what = `${program} needs the interpreter "${printable(interpreter, { oneLine: true })}", which is missing or not executable`;
    return spawnFailed(launch, what, {
      code,
      hint: "Install the interpreter or correct the first line of the script.",
    });
  }
  const reason = reasons[code] ?? `the system refused to start ${program}`;
  return spawnFailed(launch, `${reason} (${code})`, { code });
}

export function spawnFailed(
  launch: Pick<Launch, "server" | "command">,
  what: string,
  more: { hint?: string; code?: string; searched?: string[] } = {},
): PlugboardError {
  const { hint, ...data } = more;
  return new PlugboardError("spawn-failed", `"${launch.server}" could not be started: ${what}.`, {
    server: launch.server,
    data: { command: launch.command, ...data },
    hint,
  });
}

const reasons: Record<string, string> = {
  ENOENT:
    "its program needs a loader or library that is missing, so it was probably built for another system",
  EACCES: "its program may not be executed by this user or on this file system",
  E2BIG: "its arguments and environment are too long",
  EAGAIN: "the system's limit on processes is reached",
  ENOMEM: "there is not enough memory for another process",
  EMFILE: "Plugboard has too many files open",
  ENFILE: "the system has too many files open",
};

function notFound(launch: Launch, searched: string[]): PlugboardError {
  const { command } = launch;
  const where =
    searched.length > 0
      ? `the command "${command}" was not found in any folder of PATH: ${searched.join(delimiter)}`
      : `${resolve(launch.cwd, command)} does not exist`;
  const hint = /\s/.test(command)
    ? "Put only the program in `command`, and its arguments in `args`."
    : searched.length > 0
      ? "Install the program, write its full path, or set PATH in `env`."
      : "Install the program there, or correct `command`.";
  return spawnFailed(launch, where, { hint, code: "ENOENT", searched });
}

async function mayExecute(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Checked here because Node's error about a NUL prints the value, which may be a secret. */
function refuseNul(launch: Launch): void {
  const isBad = (text: string) => text.includes("\0");
  const variable = Object.entries(launch.env).find(([name, value]) => isBad(name) || isBad(value))?.[0];
  if (variable !== undefined)
    throw spawnFailed(launch, `the variable ${printable(variable)} holds a NUL character`);
  if (isBad(launch.command) || launch.args.some(isBad) || isBad(launch.cwd)) {
    throw spawnFailed(launch, "its command, arguments or working folder contain a NUL character");
  }
}

async function readInterpreter(program: string): Promise<string | undefined> {
  const file = await open(program, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256);
    const line = buffer.toString("utf8", 0, bytesRead).split("\n")[0] ?? "";
    return line.startsWith("#!")
      ? line
          .slice(2)
          .replace(/^[ \t]+/, "")
          .split(/[ \t]/)[0]
      : undefined;
  } finally {
    await file.close();
  }
}
