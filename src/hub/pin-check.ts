import { asideReason } from "../catalog/deep-entry.ts";
import type { DefinitionFlag } from "../catalog/flags/definition.ts";
import { fieldChanges } from "../config/lock/changes.ts";
import type { FieldChange } from "../config/lock/changes.ts";
import type { Surface } from "../config/lock/lock-file.ts";
import { packageOf } from "../config/lock/packages.ts";
import { Pin, comparePin, definitionHash, pinnedKinds, pinnedName } from "../config/lock/pins.ts";
import type { PinnedKind, PinnedPackage, ServerPins } from "../config/lock/pins.ts";
import { isPlugboardError } from "../errors.ts";
import type { PlugboardError } from "../errors.ts";
import { homeFolder } from "../lib/folders.ts";
import type { Engine } from "./engine.ts";
import { knownFlags } from "./known-flags.ts";

/** How definitions are compared with lock files. */
export interface PinCheckOptions {
  signal?: AbortSignal | undefined;
}

/** How what one server offers now compares with its lock file. */
export interface PinReport {
  server: string;
  /** The lock file that its pins belong in, if it has one; it may not exist. */
  file?: string;
  /** `unpinned` if the lock does not mention it, `unreadable` if the lock cannot be used, `failed` if the server cannot be asked. */
  state: "same" | "changed" | "unpinned" | "unreadable" | "failed";
  /** Why the lock cannot be used. */
  because?: string;
  error?: PlugboardError;
  changes: PinChange[];
  /** What is suspicious in the definitions of now. */
  flags: DefinitionFlag[];
  /** Everything that the server offers now; absent if it failed. */
  surface?: Surface;
}

/** One definition that differs from the lock file. */
export interface PinChange {
  kind: PinnedKind | "instructions" | "package";
  /** The name of the tool or prompt, or the URI template. */
  name: string;
  change: "new" | "changed" | "missing";
  fields: FieldChange[];
}

export async function checkPins(
  engine: Engine,
  names: readonly string[],
  { signal }: PinCheckOptions,
): Promise<PinReport[]> {
  const checked = await Promise.all(names.map((name) => checkServer(engine, name, signal)));
  const flags = await knownFlags(engine);
  return checked.map((report) => ({
    ...report,
    flags: flags.filter(({ server }) => server === report.server),
  }));
}

async function checkServer(
  engine: Engine,
  server: string,
  signal: AbortSignal | undefined,
): Promise<PinReport> {
  const { config } = engine.servers;
  const file = config.lockFiles?.get(server);
  const about = { server, ...(file !== undefined && { file }), flags: [] };
  const pins = config.pins?.get(server);
  try {
    const surface = await readSurface(engine, server, signal);
    if (pins?.broken !== undefined)
      return {
        ...about,
        state: "unreadable",
        because: pins.broken,
        changes: compare(undefined, surface),
        surface,
      };
    const changes = compare(pins, surface);
    const state = !pins ? "unpinned" : changes.length === 0 ? "same" : "changed";
    return { ...about, state, changes, surface };
  } catch (error) {
    if (!isPlugboardError(error) || isPlugboardError(error, "call-cancelled")) throw error;
    return { ...about, state: "failed", error, changes: [] };
  }
}

/** What a server offers right now, asked from the server itself. */
async function readSurface(
  { servers, catalog, root, env }: Engine,
  server: string,
  signal: AbortSignal | undefined,
): Promise<Surface> {
  const entry = servers.entry(server);
  const key = servers.key(server, root.use);
  const { greeting } = await servers.connections.get(key, root.use).ready(signal);
  await catalog.refresh(key, pinnedKinds, signal);
  const lists = await Promise.all(
    pinnedKinds.map(async (kind) => {
      const list = await catalog.list(server, kind, root, { wait: false });
      return [kind, pinsOf(kind, list?.entries ?? [])] as const;
    }),
  );
  const { instructions } = greeting;
  return {
    ...(Object.fromEntries(lists) as Record<PinnedKind, Map<string, Pin>>),
    instructions: instructions === undefined ? undefined : pinOf(instructions),
    package: await packageOf(entry, { env, home: homeFolder(env) }),
  };
}

/** The first entry of a name counts, as in the catalog. What is invalid is set aside anyway. */
function pinsOf(kind: PinnedKind, entries: readonly Record<string, unknown>[]): Map<string, Pin> {
  const pins = new Map<string, Pin>();
  for (const entry of entries) {
    const name = pinnedName(kind, entry);
    if (asideReason(entry) === undefined && !pins.has(name)) pins.set(name, pinOf(entry));
  }
  return pins;
}

function pinOf(definition: unknown): Pin {
  return new Pin(definitionHash(definition), definition);
}

function compare(pins: ServerPins | undefined, now: Surface): PinChange[] {
  const none = new Map<string, Pin>();
  return [
    ...comparePackages(pins?.package, now.package),
    ...compareList("instructions", only(pins?.instructions), only(now.instructions)),
    ...pinnedKinds.flatMap((kind) => compareList(kind, pins?.[kind] ?? none, now[kind])),
  ];
}

/** What is unknown in the lock is not pinned; what has become unknown is not what was pinned. Why does not matter. */
function comparePackages(pinned: PinnedPackage | undefined, now: PinnedPackage | undefined): PinChange[] {
  const { note: _was, ...before } = pinned ?? {};
  const { note: _is, ...after } = now ?? {};
  const known = Object.entries(after).map(([field, value]) => {
    const isUnpinned = pinned?.[field as keyof PinnedPackage] === "unknown";
    return [field, isUnpinned ? "unknown" : value] as const;
  });
  return compareOne("package", "", pinned && before, now && Object.fromEntries(known));
}

function only(pin: Pin | undefined): ReadonlyMap<string, Pin> {
  return new Map(pin ? [["", pin]] : []);
}

function compareList(
  kind: PinnedKind | "instructions",
  pinned: ReadonlyMap<string, Pin>,
  now: ReadonlyMap<string, Pin>,
): PinChange[] {
  const names = [...new Set([...pinned.keys(), ...now.keys()])].sort();
  return names.flatMap((name): PinChange[] => {
    const [before, after] = [pinned.get(name), now.get(name)];
    if (!after) return compareOne(kind, name, before?.definition, undefined);
    const verdict = comparePin(before, after.definition);
    if (verdict === "same") return [];
    if (verdict !== "damaged") return compareOne(kind, name, before?.definition, after.definition);
    // What is in the lock is not what was approved, so a difference from it would hide something.
    const hashes = {
      path: "(hash of the definition in the lock file)",
      before: before?.hash,
      after: definitionHash(before?.definition),
    };
    return [{ kind, name, change: "changed", fields: [hashes, ...whole(undefined, after.definition)] }];
  });
}

function compareOne(kind: PinChange["kind"], name: string, before: unknown, after: unknown): PinChange[] {
  const change = before === undefined ? "new" : after === undefined ? "missing" : "changed";
  if (before === undefined && after === undefined) return [];
  const fields = change === "changed" ? fieldChanges(before, after) : whole(before, after);
  return fields.length === 0 ? [] : [{ kind, name, change, fields }];
}

/** All of a definition that is new or gone. */
function whole(before: unknown, after: unknown): FieldChange[] {
  const isText = typeof (before ?? after) !== "object";
  return isText ? fieldChanges(before, after) : fieldChanges(before ?? {}, after ?? {});
}
