import { spawn } from "node:child_process";

export interface CommandRun {
  code: number | null;
  out: string;
  err: string;
}

/** Runs a program of ours under the Node.js that runs the tests, and waits for its end. */
export async function runNode(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<CommandRun> {
  const { input, ...rest } = options;
  const child = spawn(process.execPath, args, { ...rest, stdio: ["pipe", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (err += text));
  child.stdin.end(input ?? "");
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once("close", resolve).once("error", reject);
  return { code: await promise, out, err };
}
