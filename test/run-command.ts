import { spawn } from "node:child_process";

export interface CommandRun {
  code: number | null;
  out: string;
  err: string;
}

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
}

/** Runs a program of ours under the Node.js that runs the tests, and waits for its end. */
export function runNode(args: readonly string[], options: RunOptions = {}): Promise<CommandRun> {
  return runProgram(process.execPath, args, options);
}

/** Runs a line as a person types it. */
export function runShell(line: string, options: RunOptions = {}): Promise<CommandRun> {
  return runProgram("sh", ["-c", line], options);
}

export async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<CommandRun> {
  const { input, ...rest } = options;
  const child = spawn(program, args, { ...rest, stdio: ["pipe", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (err += text));
  child.stdin.end(input ?? "");
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once("close", resolve).once("error", reject);
  return { code: await promise, out, err };
}
