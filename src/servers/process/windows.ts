import { execFile } from "node:child_process";

// Not yet tested: nothing here has run on Windows.

/** Batch files cannot be started without cmd.exe; every argument is quoted so that cmd.exe sees it as text. */
export function windowsCommand(path: string, args: readonly string[], comspec = "cmd.exe") {
  if (!/\.(?:cmd|bat)$/i.test(path)) return { file: path, args: [...args], verbatim: false };
  const line = [escapeMeta(path), ...args.map((arg) => escapeMeta(escapeMeta(quote(arg))))].join(" ");
  return { file: comspec, args: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

export function endWindowsTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    execFile("taskkill", ["/T", "/F", "/PID", String(pid)], () => resolve());
  });
}

function quote(arg: string): string {
  return `"${arg.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1")}"`;
}

function escapeMeta(text: string): string {
  return text.replaceAll(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
