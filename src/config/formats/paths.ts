import { posix, win32 } from "node:path";
import type { FormatFile, Machine } from "./format.ts";

/** Marks the file to write to if a client has several of one scope. */
export function main(file: FormatFile): FormatFile {
  return { ...file, main: true };
}

/** A file in the user's home folder. */
export function userFile(machine: Machine, ...path: string[]): FormatFile {
  return { path: join(machine, machine.home, ...path), scope: "user" };
}

export function projectFile(machine: Machine, ...path: string[]): FormatFile {
  return { path: join(machine, machine.projectRoot, ...path), scope: "project" };
}

/** A file in the folder that a variable such as CODEX_HOME names; without the variable, in the home folder. */
export function movableFile(machine: Machine, variable: string, fallback: string, name: string): FormatFile {
  const folder = machine.env[variable];
  return folder ? { path: join(machine, folder, name), scope: "user" } : userFile(machine, fallback, name);
}

/** A file in the platform's folder for desktop applications. */
export function applicationFile(machine: Machine, ...path: string[]): FormatFile {
  const { platform, env, home } = machine;
  if (platform === "darwin") return userFile(machine, "Library", "Application Support", ...path);
  const folder = platform === "win32" ? env["APPDATA"] : env["XDG_CONFIG_HOME"];
  const usual =
    platform === "win32" ? join(machine, home, "AppData", "Roaming") : join(machine, home, ".config");
  return { path: join(machine, folder || usual, ...path), scope: "user" };
}

/** A file in `~/.config`, on every platform. */
export function dotConfigFile(machine: Machine, ...path: string[]): FormatFile {
  return movableFile(machine, "XDG_CONFIG_HOME", ".config", join(machine, ...path));
}

function join({ platform }: Machine, ...path: string[]): string {
  return (platform === "win32" ? win32 : posix).join(...path);
}
