import { appendFile, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ModelMessage } from "ai";
import { PlugboardError } from "../../index.ts";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { readBoundedFile } from "../../lib/bounded-file.ts";
import { createFolder } from "../../lib/create-folder.ts";
import { randomHandle } from "../../lib/random-handle.ts";
import type { Held } from "../../lib/held.ts";
import { isRecord } from "../../lib/record.ts";
import { keptMessages } from "./kept-messages.ts";

/** A conversation, as it is kept between runs. */
export interface Conversation {
  id: string;
  /** The folder it was held in. */
  folder: string;
  model: string;
  /** When it was last changed, in milliseconds since the epoch. */
  at: number;
  messages: ModelMessage[];
  /** Changes whenever it is saved. Absent until it is saved for the first time. */
  revision?: string | undefined;
}

export type ConversationSummary = Omit<Conversation, "messages" | "revision"> & { title: string };

/** What saving did besides keeping everything under the same id. */
export interface Saved {
  /** The id that it has now, because another process changed what was kept under the old one. */
  movedTo?: string;
  isCut: boolean;
  isShort: boolean;
}

/** Keeps other processes out while `work` runs. */
export type Lock = <T>(key: string, work: (held: Held) => Promise<T>) => Promise<T>;

const mostConversations = 100;
const maxCharacters = 1_000_000;
/** What the characters of one may take in a file. */
const maxBytes = 4_000_000;
const mostInputs = 500;
const maxHistoryBytes = 1_000_000;

export function newConversation(folder: string, model: string): Conversation {
  return { id: newId(), folder, model, at: Date.now(), messages: [] };
}

function newId(): string {
  return randomHandle("c").slice(0, 10);
}

/** The conversations of this user, one file each that only they can read, and the lines that they typed. */
export class Conversations {
  readonly #folder: string;

  readonly #lock: Lock;

  constructor(stateFolder: string, lock: Lock) {
    this.#folder = join(stateFolder, "chats");
    this.#lock = lock;
  }

  /**
   * Keeps a conversation without media, and shortened if it is too long. If somebody else went on with it since it was
   * read, it gets a new id, so that neither is lost. The oldest conversations go.
   */
  async save(conversation: Conversation): Promise<Saved> {
    const { messages, ...cuts } = keptMessages(conversation.messages, maxCharacters);
    const before = conversation.id;
    await this.#lock(`chat:${before}`, async ({ signal, confirm }) => {
      if (await this.#isChanged(conversation)) conversation.id = newId();
      conversation.revision = randomHandle("r");
      const text = `${JSON.stringify({ version: 1, ...conversation, messages })}\n`;
      // A lock that holds only in this process is good enough: not to save at all would lose more.
      const held = { signal, ...(confirm && { confirm }) };
      await writeFileAtomic(this.#file(conversation.id), text, { mode: 0o600, held });
    });
    const old = (await this.#files()).slice(mostConversations);
    await Promise.all(old.map(({ id }) => rm(this.#file(id), { force: true })));
    return { ...cuts, ...(conversation.id !== before && { movedTo: conversation.id }) };
  }

  async #isChanged({ id, revision }: Conversation): Promise<boolean> {
    const isThere = (await stat(this.#file(id)).catch(() => undefined)) !== undefined;
    return isThere && (revision === undefined || (await this.#read(id))?.revision !== revision);
  }

  /** The newest first. Those that cannot be read are left out. */
  async list(): Promise<ConversationSummary[]> {
    const all = await Promise.all((await this.#files()).map(({ id }) => this.#read(id)));
    return all
      .filter((one) => one !== undefined)
      .map(({ messages, revision: _revision, ...rest }) => ({ ...rest, title: titleOf(messages) }));
  }

  /** The last conversation in a folder, and the newer files that cannot be read. */
  async last(folder: string): Promise<{ found?: Conversation; damaged: string[] }> {
    const damaged: string[] = [];
    for (const { id } of await this.#files()) {
      const one = await this.#read(id);
      if (!one) damaged.push(this.#file(id));
      else if (one.folder === folder) return { found: one, damaged };
    }
    return { damaged };
  }

  /** By its id, or the beginning of it. */
  async load(typed: string): Promise<Conversation> {
    const [id, other] = (await this.#files()).map((one) => one.id).filter((one) => one.startsWith(typed));
    const hint = "Run `plugboard chat --resume` in a terminal, or use --continue for the last one here.";
    if (id === undefined || typed === "")
      throw new PlugboardError("usage-invalid", `There is no conversation ${JSON.stringify(typed)}.`, {
        hint,
      });
    if (other !== undefined && id !== typed)
      throw new PlugboardError(
        "usage-invalid",
        `Several conversations begin with ${JSON.stringify(typed)}.`,
        { hint: "Type more of its id." },
      );
    const found = await this.#read(id);
    if (found) return found;
    throw new PlugboardError("store-unavailable", `The conversation ${id} cannot be read.`, {
      data: { reason: "corrupt", file: this.#file(id) },
    });
  }

  /** The lines that were typed, the newest first. A file that has grown too large is cut. */
  async inputs(): Promise<string[]> {
    const read = await readBoundedFile(this.#history, maxHistoryBytes);
    if (read.kind === "refused") await rm(this.#history, { force: true }).catch(() => undefined);
    if (read.kind !== "text") return [];
    const lines = read.text.trimEnd().split("\n").slice(-mostInputs);
    if (read.text.length > maxHistoryBytes / 2) await this.#keepInputs(lines).catch(() => undefined);
    return lines.flatMap((line) => textIn(line) ?? []).reverse();
  }

  async #keepInputs(lines: string[]): Promise<void> {
    let size = 0;
    const kept = lines.toReversed().filter((line) => (size += line.length) < maxHistoryBytes / 4);
    const held = { signal: new AbortController().signal };
    await writeFileAtomic(this.#history, `${kept.toReversed().join("\n")}\n`, { mode: 0o600, held });
  }

  async addInput(text: string): Promise<void> {
    if (text.length > maxHistoryBytes / 50) return;
    createFolder(this.#folder);
    await appendFile(this.#history, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  }

  get #history(): string {
    return join(this.#folder, "history");
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }

  async #files(): Promise<{ id: string; at: number }[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const ids = names.flatMap((name) => /^(c_[a-z2-7]{8})\.json$/.exec(name)?.[1] ?? []);
    const times = await Promise.all(
      ids.map(async (id) => ({ id, at: (await stat(this.#file(id)).catch(() => undefined))?.mtimeMs ?? 0 })),
    );
    return times.toSorted((one, other) => other.at - one.at);
  }

  async #read(id: string): Promise<Conversation | undefined> {
    const read = await readBoundedFile(this.#file(id), maxBytes);
    const value = read.kind === "text" ? parsed(read.text) : undefined;
    if (!isRecord(value) || value["version"] !== 1 || !Array.isArray(value["messages"])) return undefined;
    const { folder, model, at, messages, revision = "" } = value;
    if (typeof folder !== "string" || typeof model !== "string" || typeof at !== "number") return undefined;
    if (typeof revision !== "string" || !messages.every(isMessage)) return undefined;
    return { id, folder, model, at, messages, revision };
  }
}

function isMessage(value: unknown): value is ModelMessage {
  if (!isRecord(value) || !["user", "assistant", "tool"].includes(String(value["role"]))) return false;
  const { content } = value;
  if (!Array.isArray(content)) return typeof content === "string";
  return content.every((part) => isRecord(part) && typeof part["type"] === "string");
}

function titleOf(messages: readonly ModelMessage[]): string {
  const first = messages.find(({ role }) => role === "user")?.content ?? "";
  if (typeof first === "string") return first;
  return first.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

function textIn(line: string): string | undefined {
  const value = parsed(line);
  return typeof value === "string" ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
