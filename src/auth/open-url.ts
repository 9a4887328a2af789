import { spawn } from "node:child_process";
import { PlugboardError } from "../errors.ts";
import type { Environment } from "../lib/folders.ts";
import { isSafeUrl } from "../lib/safe-url.ts";

/** Opens the browser without a shell, and only for https or this machine. Rejects if no browser can be started. */
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

/** Percent-encodes characters that a careless opener script could interpret; the URL still means the same. */
export function openableAddress(url: URL): string {
  if (!isSafeUrl(url)) {
    const message = `Plugboard does not open this ${url.protocol} address: only https, or http on this machine, without a user name or password.`;
    throw new PlugboardError("auth-failed", message, { data: { reason: "unsafe-address" } });
  }
  const encode = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return url.href.replaceAll(/[`$;|<>()'"\\^!*{}\s]/g, encode);
}
