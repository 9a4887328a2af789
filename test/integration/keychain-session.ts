import { mkdirSync, rmSync } from "node:fs";
import { has } from "../machine.ts";
import type { Sandbox } from "../sandbox.ts";

/**
 * The real thing where it can be had: gnome-keyring on a D-Bus session of its own, locked and unlocked at will; it ends
 * with its bus, and what it keeps is below HOME. Where it cannot be had, every session is one without a keychain.
 */
export type Session = "unlocked" | "locked" | "absent";

const bus = "dbus-run-session";
const unlock =
  'printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$@"';

/** What to run, and with which variables, so that `words` run in a session of their own. */
export function sessionCommand(box: Sandbox, session: Session, words: string[]) {
  const runtime = box.path("runtime");
  rmSync(runtime, { recursive: true, force: true, maxRetries: 20 });
  mkdirSync(runtime, { mode: 0o700 });
  const before = {
    unlocked: [bus, "--", "/bin/sh", "-c", unlock, "sh"],
    locked: [bus, "--"],
    absent: [],
  }[has("keychain") ? session : "absent"];
  const [command = "", ...args] = [...before, ...words];
  return { command, args, env: { ...box.env, XDG_RUNTIME_DIR: runtime } };
}
