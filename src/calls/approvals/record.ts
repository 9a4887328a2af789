import type { Conditions } from "../../config/approval/schema.ts";
import type { ServerEntry } from "../../config/model.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import { unshownValues } from "../../config/show/unshown.ts";
import { canonicalJson, hmac, sha256 } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import type { ConnectionKey } from "../../servers/connection-key.ts";
import type { TargetIdentity } from "../../servers/target-identity.ts";
import type { Approvable } from "../approve.ts";

/** An answer that allows calls of one tool, as it is kept. */
export interface ApprovalRecord {
  id: string;
  /** The server, account, folder, tool, caller and conditions that it is about, as one text. */
  place: string;
  server: string;
  /** The folder of the configuration that has the server: another project can have another one of this name. */
  folder: string;
  /** The server's name of the tool, and its id when it was asked about. */
  tool: string;
  toolId: string;
  caller?: string;
  account?: string;
  project?: string;
  /** The conditions of the rules that asked. It covers arguments that meet them; without any, all arguments. */
  when?: Conditions[];
  /** What the server's entry, what runs or is contacted, and the tool's definition were. Others are asked about again. */
  entry: string;
  target: string;
  definition: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What an approval is about. */
export interface ApprovalSubject {
  tool: ToolEntry;
  entry: Pick<ServerEntry, "written" | "baseDir" | "name" | "config">;
  key: ConnectionKey;
  caller: string | undefined;
  when: readonly Conditions[];
  /** What runs or is contacted; undefined if that is not known yet. */
  target: TargetIdentity | undefined;
  /** Headers of this call only. */
  headers: Readonly<Record<string, string>> | undefined;
}

export function subjectOf(
  { tool, call, target, headers }: Pick<Approvable, "tool" | "call" | "target" | "headers">,
  when: readonly Conditions[],
): ApprovalSubject {
  const { entry, key, use } = call.route;
  return { tool, entry, key, caller: use.caller, when, target, headers };
}

/**
 * Everything that has to be the same, apart from what may have changed. It is made for every call that a rule asks
 * about, so it is cheap, and names with line breaks can make it ambiguous: compare the caller as well.
 */
export function placeOf({ tool, entry, key, caller, when }: ApprovalSubject): string {
  const own = `${key.text}\n${entry.baseDir}\n${tool.name}`;
  const place = caller === undefined ? own : `${own}\n${caller}`;
  return when.length === 0 ? place : `${place}\n${canonicalJson(when)}`;
}

/**
 * What a server's entry, what runs or is contacted, and a tool's definition are, as short texts. Each is worked out once.
 * The key keeps those who read the texts from trying out secrets: without one, only what has no secrets is the same in
 * another process.
 */
export class Prints {
  readonly #key: Uint8Array | undefined;
  readonly #ownKey: Uint8Array;
  readonly #entries = new WeakMap<object, string>();
  readonly #targets = new WeakMap<TargetIdentity, string>();
  readonly #tools = new WeakMap<object, string>();

  constructor(key: Uint8Array | undefined) {
    this.#key = key;
    this.#ownKey = key ?? process.getBuiltinModule("node:crypto").randomBytes(32);
  }

  /** True if the texts about a server are the same in another process. */
  isLasting({ entry, target, headers }: Pick<ApprovalSubject, "entry" | "target" | "headers">): boolean {
    if (this.#key) return true;
    return !target?.hasSecrets && !hasSecrets(entry) && decisiveHeaders(headers) === undefined;
  }

  entry(entry: ApprovalSubject["entry"]): string {
    const known = this.#entries.get(entry);
    if (known !== undefined) return known;
    const { written, baseDir, name } = entry;
    const decisive = isRecord(written)
      ? Object.fromEntries(Object.entries(written).filter(([field]) => !harmless.has(field)))
      : written;
    const print = hmac(this.#keyFor(hasSecrets(entry)), canonicalJson({ written: decisive, baseDir, name }));
    this.#entries.set(entry, print);
    return print;
  }

  target({ target, headers }: Pick<ApprovalSubject, "target" | "headers">): string | undefined {
    if (!target) return undefined;
    const own = decisiveHeaders(headers);
    if (own) return target.hash(this.#ownKey, canonicalJson(own));
    const known = this.#targets.get(target);
    if (known !== undefined) return known;
    const print = target.hash(this.#keyFor(target.hasSecrets));
    this.#targets.set(target, print);
    return print;
  }

  #keyFor(isSecret: boolean): Uint8Array {
    return this.#key ?? (isSecret ? this.#ownKey : noKey);
  }

  /** As the server sent it, and what the configuration says about its effects. */
  definition(tool: ToolEntry): string {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    const print = sha256(canonicalJson({ raw: tool.raw, annotations: tool.annotations }));
    this.#tools.set(tool, print);
    return print;
  }
}

const noKey = new Uint8Array();

function hasSecrets({ config, written }: ApprovalSubject["entry"]): boolean {
  // What could not be read may be anything.
  return config ? unshownValues(config).length > 0 : isRecord(written) && Object.keys(written).length > 0;
}

/** Headers that say as whom a call is made, or where; without those that only say which trace it belongs to. */
function decisiveHeaders(headers: ApprovalSubject["headers"]): Record<string, string> | undefined {
  if (!headers) return undefined;
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const own = named.filter(([name]) => !["traceparent", "tracestate", "baggage"].includes(name));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** Fields that do not change what runs, as whom, or where it leads. */
const harmless: ReadonlySet<string> = new Set([
  "enabled",
  "disabled",
  "required",
  "lazy",
  "startupTimeoutMs",
  "callTimeoutMs",
  "maxCallTimeoutMs",
  "timeout",
  "approval",
  "elicitation",
  "tools",
  "output",
  "retry",
  "cacheTtlMs",
  "idleStopMs",
  "alwaysLoad",
  "description",
]);

/** Undefined if it is not known what runs or is contacted. */
export function newRecord(subject: ApprovalSubject, prints: Prints, at: number): ApprovalRecord | undefined {
  const target = prints.target(subject);
  if (target === undefined) return undefined;
  const { tool, key, caller, when } = subject;
  const { account, project } = key;
  const place = placeOf(subject);
  return {
    // The same question has the same id, so a later answer replaces the earlier one.
    id: `a_${sha256(place).slice(0, 16)}`,
    place,
    server: tool.server,
    folder: subject.entry.baseDir,
    tool: tool.name,
    toolId: tool.id,
    ...(caller !== undefined && { caller }),
    ...(account !== undefined && { account }),
    ...(project !== undefined && { project }),
    ...(when.length > 0 && { when: [...when] }),
    entry: prints.entry(subject.entry),
    target,
    definition: prints.definition(tool),
    at,
  };
}

/** Undefined for an invalid record, for instance from another version of the program. */
export function parseRecord(value: unknown): ApprovalRecord | undefined {
  if (!isRecord(value)) return undefined;
  const texts = ["id", "place", "server", "folder", "tool", "toolId", "entry", "target", "definition"];
  const optional = ["caller", "account", "project"];
  const { when } = value;
  const isSound =
    texts.every((field) => typeof value[field] === "string") &&
    optional.every((field) => value[field] === undefined || typeof value[field] === "string") &&
    (when === undefined || (Array.isArray(when) && when.length > 0 && when.every(isRecord))) &&
    typeof value["at"] === "number";
  return isSound ? (value as unknown as ApprovalRecord) : undefined;
}
