import { realpath } from "node:fs/promises";
import type { Editing } from "../config/edit.ts";
import { lockFileOf, readLockIn } from "../config/lock/load-pins.ts";
import { formatLock, maxLockBytes, writtenPins } from "../config/lock/lock-file.ts";
import type { LockFile, Surface } from "../config/lock/lock-file.ts";
import { pinnedKinds, surfaceHash } from "../config/lock/pins.ts";
import type { Pin, PinnedKind, ServerPins } from "../config/lock/pins.ts";
import type { LoadedConfig, Scope } from "../config/model.ts";
import type { PinChange } from "../hub/pin-check.ts";
import { PlugboardError } from "../errors.ts";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import type { Folders } from "../lib/folders.ts";

/** What a person approved for one server: all that it offers, only some of it, or that it is gone. */
export interface PinApproval {
  server: string;
  file: string;
  /** As it was shown. Absent if the server is to be removed from the lock. */
  surface?: Surface | undefined;
  /** Only these; the other pins of the server stay. Default: all. */
  only?: readonly Pick<PinChange, "kind" | "name">[] | undefined;
}

interface Writing {
  projectRoot: string;
  editing(scope: Scope): Editing;
}

/** Returns the files that were written. */
export async function writePins(
  config: LoadedConfig,
  approvals: readonly PinApproval[],
  { projectRoot, editing }: Writing,
): Promise<string[]> {
  const files = [...new Set(approvals.map(({ file }) => file))];
  for (const file of files) {
    const isProject = [...config.servers.values()].some(
      ({ name, origin }) => origin.scope === "project" && config.lockFiles?.get(name) === file,
    );
    const { lock, newFileMode } = editing(isProject ? "project" : "user");
    const target = await realpath(file).catch(() => file);
    await lock(`config:${target}`, async (held) => {
      const before = await readLockIn(file, isProject ? projectRoot : undefined);
      if (before.broken !== undefined) throw unusable(file, before.broken);
      const servers = new Map(Object.entries(before.written));
      for (const approval of approvals.filter((one) => one.file === file)) {
        const { server } = approval;
        // Pins of what nothing configures were not loaded; they can only be removed.
        if (approval.surface) assertUnchanged(server, before, config.pins?.get(server));
        const surface = approvedSurface(approval, before.servers.get(server));
        if (surface) servers.set(server, writtenPins(surface));
        else servers.delete(server);
      }
      const text = formatLock(Object.fromEntries(servers));
      if (Buffer.byteLength(text) > maxLockBytes)
        throw unusable(file, `would be larger than ${maxLockBytes.toLocaleString("en")} bytes`);
      await writeFileAtomic(target, text, { mode: newFileMode, held }).catch((error: unknown) => {
        throw error instanceof PlugboardError ? error : unwritable(file, error);
      });
    });
  }
  return files;
}

/** Pins of servers that nothing configures any more. Locks of the user are shared by all projects, so they are left out. */
export async function strayPins(
  config: LoadedConfig,
  folders: Pick<Folders, "config">,
): Promise<{ server: string; file: string }[]> {
  const configured = new Set<string>();
  const files = new Map<string, string | undefined>();
  for (const { name, origin, shadowed, status } of config.servers.values()) {
    for (const place of [origin, ...shadowed.map((other) => other.origin)]) {
      const file = lockFileOf(place, folders);
      configured.add(`${file}\n${name}`);
      // Neither read nor written before something in the project is trusted.
      if (place.scope === "project" && place === origin && status.kind === "ready")
        files.set(file, config.projectRoot);
      // A file that was named may be anywhere.
      else if (place.scope === "explicit" && !files.has(file)) files.set(file, undefined);
    }
  }
  const stray = await Promise.all(
    [...files].map(async ([file, projectRoot]) => {
      const { servers } = await readLockIn(file, projectRoot);
      return [...servers.keys()]
        .filter((name) => !configured.has(`${file}\n${name}`))
        .map((server) => ({ server, file }));
    }),
  );
  return stray.flat();
}

function approvedSurface(
  { surface, only }: PinApproval,
  before: ServerPins | undefined,
): Surface | undefined {
  if (!surface || !only) return surface;
  const isMeant = (kind: PinChange["kind"], name: string) =>
    only.some((one) => one.kind === kind && one.name === name);
  const list = (kind: PinnedKind) => {
    const merged = new Map<string, Pin>();
    for (const name of new Set([...(before?.[kind].keys() ?? []), ...surface[kind].keys()])) {
      const pin = (isMeant(kind, name) ? surface : before)?.[kind].get(name);
      if (pin) merged.set(name, pin);
    }
    return merged;
  };
  const lists = Object.fromEntries(pinnedKinds.map((kind) => [kind, list(kind)]));
  return {
    ...(lists as Record<PinnedKind, Map<string, Pin>>),
    instructions: (isMeant("instructions", "") ? surface : before)?.instructions,
    package: (isMeant("package", "") || !before ? surface : before).package,
  };
}

/** What a person compared with must still be there: somebody else may have approved or revoked something. */
function assertUnchanged(server: string, { servers, file }: LockFile, loaded: ServerPins | undefined): void {
  const hashOf = (pins: ServerPins | undefined) => pins && [pins.broken, surfaceHash(pins)].join();
  if (hashOf(servers.get(server)) === hashOf(loaded)) return;
  throw new PlugboardError("lock-unreadable", `${file} changed in the meantime; nothing was written.`, {
    server,
    data: { file },
    hint: "Run the command again.",
  });
}

function unusable(file: string, reason: string): PlugboardError {
  return new PlugboardError("lock-unreadable", `${file} ${reason}.`, { data: { file } });
}

function unwritable(file: string, cause: unknown): PlugboardError {
  const { code = "unknown error" } = cause as NodeJS.ErrnoException;
  return new PlugboardError("lock-unreadable", `${file} cannot be written (${code}).`, {
    cause,
    data: { file },
    hint: "Check the permissions and the free space of its folder; nothing was changed.",
  });
}
