import { spawn } from "node:child_process";
import { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import { isSafeUrl } from "../lib/safe-url.ts";

/** Opens the browser: no shell, one argument, https or this machine only. Rejects when there is no browser to open. */
export async function openUrl(url: URL, env: Environment = process.env): Promise<void> {
  const { platform } = process;
  const [command, ...args] = openCommand(url, platform);
  const detached = platform !== "win32";
  const child = spawn(command, args, { env: { ...env }, stdio: "ignore", shell: false, detached });
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", resolve);
  });
  child.unref();
}

export function openCommand(url: URL, platform: NodeJS.Platform): [string, ...string[]] {
  const address = openableAddress(url);
  if (platform === "darwin") return ["open", address];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", address];
  return ["xdg-open", address];
}

/** What a careless script behind the opener could take for its own language is percent-encoded; it means the same. */
export function openableAddress(url: URL): string {
  if (!isSafeUrl(url)) {
    const message = `An address of the kind ${url.protocol} is not opened: only https, or http on this machine.`;
    throw new PlugboardError("auth-failed", message, { data: { reason: "unsafe-address" } });
  }
  const encode = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return url.href.replaceAll(/[`$;|<>()'"\\^!*{}\s]/g, encode);
}
