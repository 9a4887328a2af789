import type { ServerPins } from "../config/lock/pins.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import { flattened } from "./deep-entry.ts";
import { hashText } from "./hashes.ts";
import { toolId } from "./names.ts";
import type { Naming } from "./names.ts";
import { NearNames } from "./near-names.ts";
import type { RawEntry } from "./known-list.ts";
import { Slices } from "./slices.ts";
import { judgeTool } from "./tool-entry.ts";
import type { ToolEntry } from "./tool-entry.ts";

/** The rules that decide a tool's status. The same object as long as nothing changes. */
export interface Rules {
  readonly config: ServerConfig;
  readonly naming: Naming;
  /** What is pinned of the server, if there is a lock. */
  readonly pins?: ServerPins | undefined;
}

/** The tools of one list, judged by one set of rules. Never modified; a new list or new rules need a new index. */
export class ToolIndex {
  readonly rules: Rules;
  readonly byId = new Map<string, ToolEntry>();
  /** By the server's own names, and by names from config that are not taken. */
  readonly byName = new Map<string, ToolEntry>();
  readonly near = new NearNames<ToolEntry>();
  /** Sorted by id. */
  entries: readonly ToolEntry[] = [];
  available = 0;
  /** The verdict on each entry by itself, for reuse by the next index. */
  readonly judged = new Map<RawEntry, ToolEntry>();
  readonly #hashes = new Map<string, string>();
  #digest: string | undefined;

  constructor(rules: Rules) {
    this.rules = rules;
  }

  add(entry: ToolEntry, hash: string): void {
    const { id, name } = entry;
    this.byId.set(id, entry);
    if (entry.status === "available") this.available++;
    if (!this.byName.has(name)) this.byName.set(name, entry);
    this.near.add(entry.renamedTo ?? name, entry);
    this.#hashes.set(id, `${hash}${corrections(entry)}`);
  }

  seal(): void {
    for (const entry of this.byId.values()) {
      const { renamedTo } = entry;
      if (renamedTo !== undefined && !this.byName.has(renamedTo)) this.byName.set(renamedTo, entry);
    }
    this.entries = [...this.byId.keys()].sort().map((id) => this.byId.get(id) as ToolEntry);
  }

  /** Changes with the ids and definitions of the callable tools. */
  get digest(): string {
    return (this.#digest ??= this.digestOf(this.entries));
  }

  /** The same for some of the tools. */
  digestOf(entries: readonly ToolEntry[]): string {
    const available = entries.filter(({ status }) => status === "available");
    if (available.length === 0) return "";
    return hashText(available.map(({ id }) => `${id} ${this.#hashes.get(id)}`).join());
  }
}

/** What the configuration changed in a definition; empty if nothing. */
function corrections({ annotations, description, inputSchema, raw }: ToolEntry): string {
  const changed = [
    raw["annotations"] !== annotations && !isEmpty(raw["annotations"], annotations) && { annotations },
    raw["description"] !== description && { description },
    raw["inputSchema"] !== inputSchema && { inputSchema },
  ].filter((one) => one !== false);
  return changed.length === 0 ? "" : JSON.stringify(changed);
}

/** A server that sends no annotations has none. */
function isEmpty(sent: unknown, annotations: object): boolean {
  return sent === undefined && Object.keys(annotations).length === 0;
}

/** Judges a list in time slices. Reuses the verdicts of the previous index if the rules are the same. */
export async function indexTools(
  server: string,
  list: { entries: readonly RawEntry[]; hashes: readonly string[] },
  rules: Rules,
  before?: ToolIndex,
): Promise<ToolIndex> {
  const { config, naming, pins } = rules;
  const index = new ToolIndex(rules);
  const slices = new Slices();
  for (const [at, raw] of list.entries.entries()) {
    if (slices.isOver()) await slices.next();
    const { name } = raw;
    if (typeof name !== "string" || name === "") continue;
    const kept = before?.rules === rules ? before.judged.get(raw) : undefined;
    const entry = kept ?? judgeAlone(server, config, name, raw, naming, pins);
    index.judged.set(raw, entry);
    const isTwin = index.byId.has(entry.id);
    index.add(isTwin ? asDuplicate(entry, index.byId.size, naming) : entry, list.hashes[at] ?? "");
  }
  if (slices.isOver()) await slices.next();
  index.seal();
  return index;
}

/** Whatever goes wrong while one tool is judged is that tool's mistake; the others go on. */
function judgeAlone(...[server, config, name, raw, naming, pins]: Parameters<typeof judgeTool>): ToolEntry {
  try {
    return judgeTool(server, config, name, raw, naming, pins);
  } catch (error) {
    const reason = `it cannot be checked (${error instanceof Error ? error.name : "unknown error"})`;
    return judgeTool(server, {}, name, flattened(raw, reason), naming);
  }
}

/** Sets aside a tool whose name is taken, with an id of its own. The first tool with a name keeps it. */
function asDuplicate(entry: ToolEntry, count: number, naming: Naming): ToolEntry {
  const { server, name, renamedTo = name } = entry;
  const id = toolId(server, `${name}#${count}`, naming);
  return {
    ...entry,
    id,
    status: "set-aside",
    because: `the server has another tool called "${renamedTo}"`,
  };
}
