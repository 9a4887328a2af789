import { changedFields } from "../config/lock/changes.ts";
import { comparePin, pinnedName } from "../config/lock/pins.ts";
import type { PinVerdict, PinnedKind, ServerPins } from "../config/lock/pins.ts";
import { PlugboardError } from "../errors.ts";
import { joinArgv } from "../lib/argv.ts";
import type { RawEntry } from "./known-list.ts";

export interface PinProblem {
  pin: Exclude<PinVerdict, "same"> | "unreadable";
  because: string;
}

/** Why the lock keeps back what a server sends; undefined if it is exactly what is pinned. */
export function pinProblem(
  pins: ServerPins,
  kind: PinnedKind | "instructions",
  name: string,
  sent: unknown,
): PinProblem | undefined {
  // Without its path: clients of a gateway are told this too.
  if (pins.broken !== undefined) return { pin: "unreadable", because: `its lock file ${pins.broken}` };
  const isTold = kind === "instructions";
  const pin = isTold ? pins.instructions : pins[kind].get(name);
  const verdict = comparePin(pin, sent);
  switch (verdict) {
    case "same":
      return undefined;
    case "new":
      return {
        pin: verdict,
        because: `${isTold ? "they are" : "it is"} new since the lock file was written`,
      };
    case "damaged":
      return { pin: verdict, because: "the hash in the lock file does not match the definition there" };
    case "changed": {
      const fields = isTold ? "text" : changedFields(pin?.definition, sent);
      return {
        pin: verdict,
        because: `${isTold ? "their" : "its"} ${fields} changed since the lock file was written`,
      };
    }
  }
}

/** The error for using something that the lock keeps back. */
export function pinMismatch(
  what: "tool" | "prompt" | "resource template",
  { server, name, because, id }: { server: string; name: string; because?: string | undefined; id?: string },
): PlugboardError {
  const message = `The ${what} ${name.slice(0, 200)} of "${server}" cannot be used: ${because}.`;
  const command = joinArgv(["plugboard", "lock", server]);
  return new PlugboardError("lock-mismatch", message, {
    server,
    ...(what === "tool" && { tool: id ?? name }),
    hint: `Run \`${command}\` to see what changed, and approve it if it is right.`,
  });
}

/** Remembers what was found about entries of one list under the same pins, because lists are looked at often. */
export class PinVerdicts {
  readonly #known = new WeakMap<ServerPins, WeakMap<RawEntry, PinProblem | null>>();

  of(
    pins: ServerPins | undefined,
    kind: Exclude<PinnedKind, "tools">,
    entry: RawEntry,
  ): PinProblem | undefined {
    if (!pins) return undefined;
    let known = this.#known.get(pins);
    if (!known) this.#known.set(pins, (known = new WeakMap()));
    let problem = known.get(entry);
    if (problem === undefined) {
      problem = pinProblem(pins, kind, pinnedName(kind, entry), entry) ?? null;
      known.set(entry, problem);
    }
    return problem ?? undefined;
  }
}
