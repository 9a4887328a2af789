import type { MostRemembered } from "../../config/approval/schema.ts";
import type { ApprovalRemembered, Emit } from "../../events.ts";
import type { Approval, Remembering } from "../../interact/interact.ts";
import type { TargetIdentity } from "../../servers/target-identity.ts";
import type { Store } from "../../store/store.ts";
import { Prints, newRecord, parseRecord, placeOf } from "./record.ts";
import type { ApprovalRecord, ApprovalSubject } from "./record.ts";

export interface RememberedSettings {
  /** Where lasting answers are kept. */
  store(): Promise<Store>;
  /** The key of the hashes in them; absent if none is kept beyond this process. */
  key?: (() => Promise<Uint8Array>) | undefined;
  /** Names this process among those that share the store. */
  process(): string;
  now(): number;
  emit: Emit;
}

/** How many answers of each kind are remembered. The oldest go, and are asked for again. */
const most = 1_000;

/** How long what was read from the store counts: what another process revokes is used no longer than this. */
const freshMs = 1_000;

const prefix = "approval/";
/** Answers for the session of a process, given in another one, until that takes them. */
const sessionPrefix = "session-approval/";
const sessionMs = 604_800_000;

/** What became of an answer that was to be remembered. */
export interface Kept {
  remembered?: Remembering;
  /** Why it is not remembered for as long as it should be. */
  notKept?: string;
}

/** What is remembered about a question: an answer that counts, or one that does not count any more. */
export interface Recalled {
  record: ApprovalRecord;
  remembered: Remembering;
  changed?: "server" | "target" | "tool" | undefined;
}

/** Answers that allow later calls: for this hub, and lasting ones in the store, which all processes share. */
export class RememberedApprovals {
  readonly #settings: RememberedSettings;
  /** Known after `read`. */
  #prints: Prints | undefined;
  readonly #session = new Map<string, ApprovalRecord>();
  #always = new Map<string, ApprovalRecord>();
  #readAt: number | undefined;
  #reading: Promise<void> | undefined;
  #loading: Promise<Prints> | undefined;
  /** Counts our own changes, so that none is lost to what was read before it. */
  #changes = 0;
  #isLasting = true;
  /** Questions that are open. */
  readonly #waiting = new Set<() => void>();
  #problem: string | undefined;

  constructor(settings: RememberedSettings) {
    this.#settings = settings;
  }

  /** True if what the store has is known; otherwise wait for `read` first. */
  get isFresh(): boolean {
    if (this.#readAt === undefined || !this.#prints) return false;
    const ageMs = this.#settings.now() - this.#readAt;
    return !this.#isLasting || (ageMs >= 0 && ageMs < freshMs);
  }

  /** False if an answer to a question holds no longer than this process. Known after `read`. */
  isLasting(subject: ApprovalSubject): boolean {
    return this.#isLasting && this.#prints?.isLasting(subject) === true;
  }

  /** Why the store could not be read. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reads the store if that was not done a moment ago. A store that fails has no answers, so people are asked. */
  async read(): Promise<void> {
    if (this.isFresh) return;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  /** False if nothing is remembered at all. */
  get hasAny(): boolean {
    return this.#session.size > 0 || this.#always.size > 0;
  }

  /** What is remembered about a question, of the kinds that may be used for it. */
  recall(subject: ApprovalSubject, upTo: MostRemembered): Recalled | undefined {
    if (upTo === "never" || !this.hasAny) return undefined;
    const place = placeOf(subject);
    const session = this.#judge(this.#session.get(place), subject, "session");
    if (upTo === "session" || (session && !session.changed)) return session;
    return this.#judge(this.#always.get(place), subject, "always") ?? session;
  }

  /** Remembers that these calls are allowed. Never rejects: what cannot be stored holds until the hub closes. */
  async keep(
    subject: ApprovalSubject,
    wanted: Remembering,
    { upTo, limit = "it may not be remembered" }: { upTo: MostRemembered; limit?: string },
  ): Promise<Kept> {
    if (upTo === "never") return { notKept: limit };
    const record = await this.recordOf(subject);
    if (!record) return { notKept: "it is not known what would run or be contacted" };
    if (wanted === "session") return this.#keepAs(record, wanted, undefined);
    const isBound = (await this.#loaded()).isLasting(subject);
    return this.#keepAs(record, wanted, upTo === "always" ? await this.#store(record, isBound) : limit);
  }

  /** `notKept` is why it is not stored although it should be. */
  #keepAs(record: ApprovalRecord, wanted: Remembering, notKept: string | undefined): Kept {
    const isStored = wanted === "always" && notKept === undefined;
    if (!isStored) this.#keepHere(record);
    const remembered = isStored ? "always" : "session";
    const { emit, now } = this.#settings;
    emit({ type: "approval-remembered", ...aboutRecord(record, remembered), at: now() });
    return { remembered, ...(notKept !== undefined && { notKept }) };
  }

  /** What is kept of an answer that allows such calls; undefined if it is not known what would run or be contacted. */
  async recordOf(subject: ApprovalSubject): Promise<ApprovalRecord | undefined> {
    return newRecord(subject, await this.#loaded(), this.#settings.now());
  }

  /** Remembers an answer to a question of this process, or of another one. Never rejects. */
  async accept(record: ApprovalRecord, wanted: Remembering, asker: string | undefined): Promise<Kept> {
    if (wanted === "session" && asker !== undefined) {
      try {
        const key = `${sessionPrefix}${asker}/${record.id}`;
        await (await this.#settings.store()).set(key, record, { ttlMs: sessionMs });
        return { remembered: "session" };
      } catch (error) {
        return { notKept: `it could not be stored (${(error as Error).message})` };
      }
    }
    return this.#keepAs(record, wanted, wanted === "always" ? await this.#store(record, true) : undefined);
  }

  /** Another process may have remembered something: looks whether it answers questions that are open here. */
  async readAgain(): Promise<void> {
    await this.#reading;
    this.#readAt = undefined;
    await this.read();
    for (const look of this.#waiting) look();
  }

  /** What somebody answers, or that they allow it in their answer to another question meanwhile. */
  async orAllowed(
    subject: ApprovalSubject,
    upTo: MostRemembered,
    answer: Promise<Approval> | undefined,
  ): Promise<Approval> {
    const { promise, resolve } = Promise.withResolvers<Approval>();
    const look = () => {
      const recalled = this.recall(subject, upTo);
      if (recalled && !recalled.changed) resolve({ decision: "allow" });
    };
    this.#waiting.add(look);
    try {
      return await Promise.race([answer as Promise<Approval>, promise]);
    } finally {
      this.#waiting.delete(look);
    }
  }

  /** All that is remembered, the oldest first. Fails if the store cannot be read. */
  async list(): Promise<Omit<Recalled, "changed">[]> {
    const always = await readAll(await this.#settings.store());
    await this.#loaded();
    const all = [
      ...always.map((record) => ({ record, remembered: "always" as const })),
      ...[...this.#session.values()].map((record) => ({ record, remembered: "session" as const })),
    ];
    return all.toSorted((one, other) => one.record.at - other.record.at);
  }

  /** Forgets what `isMeant` selects, and returns it. Fails if the store cannot be read or changed. */
  async revoke(isMeant: (record: ApprovalRecord) => boolean): Promise<Omit<Recalled, "changed">[]> {
    const meant = (await this.list()).filter(({ record }) => isMeant(record));
    const store = await this.#settings.store();
    for (const { record, remembered } of meant) {
      this.#changes++;
      if (remembered === "session") this.#session.delete(record.place);
      else {
        this.#always.delete(record.place);
        await store.delete(keyOf(record));
      }
      const { emit, now } = this.#settings;
      emit({ type: "approval-revoked", ...aboutRecord(record, remembered), at: now() });
    }
    return meant;
  }

  /** What has changed since a record was made, as far as it is known. */
  changed(
    record: ApprovalRecord,
    {
      entry,
      tool,
      target,
      headers,
    }: Pick<ApprovalSubject, "entry"> & {
      [K in "tool" | "target" | "headers"]?: ApprovalSubject[K] | undefined;
    },
  ): Recalled["changed"] {
    const prints = this.#prints;
    if (!prints || record.entry !== prints.entry(entry)) return "server";
    if (target && record.target !== prints.target({ target, headers })) return "target";
    return tool && record.definition !== prints.definition(tool) ? "tool" : undefined;
  }

  /** What a server's entry says, and what runs or is contacted, as one text. */
  async printOf(subject: Pick<ApprovalSubject, "entry" | "target" | "headers">): Promise<string> {
    const prints = await this.#loaded();
    return `${prints.entry(subject.entry)}/${prints.target(subject) ?? ""}`;
  }

  /** What runs or is contacted, as a text that says nothing about it. */
  async markOf(target: TargetIdentity): Promise<string> {
    return (await this.#loaded()).target({ target, headers: undefined }) ?? "";
  }

  /** Without its key, no answer with secrets in it counts beyond this process. */
  async #loaded(): Promise<Prints> {
    this.#loading ??= (async () => {
      const { key } = this.#settings;
      return new Prints(await key?.().catch(() => undefined));
    })();
    return (this.#prints = await this.#loading);
  }

  #judge(
    record: ApprovalRecord | undefined,
    subject: ApprovalSubject,
    remembered: Remembering,
  ): Recalled | undefined {
    if (!record || record.caller !== subject.caller || record.tool !== subject.tool.name) return undefined;
    // An answer that was given for something else than what will run must not count.
    return {
      record,
      remembered,
      changed: this.changed(record, subject) ?? (subject.target ? undefined : "target"),
    };
  }

  #keepHere(record: ApprovalRecord): void {
    this.#session.delete(record.place);
    this.#session.set(record.place, record);
    const [oldest] = this.#session.keys();
    if (this.#session.size > most && oldest !== undefined) this.#session.delete(oldest);
    for (const look of this.#waiting) look();
  }

  /** Returns why it could not be stored. */
  async #store(record: ApprovalRecord, isBound: boolean): Promise<string | undefined> {
    try {
      const store = await this.#settings.store();
      if (!store.durable) return "nothing can be stored beyond the end of this program";
      if (!isBound) return "there is no key that binds it to its server's secrets";
      this.#changes++;
      await store.set(keyOf(record), record);
      this.#always.set(record.place, record);
      for (const look of this.#waiting) look();
      const all = await readAll(store);
      for (const old of all.slice(0, Math.max(0, all.length - most))) {
        this.#always.delete(old.place);
        await store.delete(keyOf(old));
      }
      return undefined;
    } catch (error) {
      return `it could not be stored (${(error as Error).message})`;
    }
  }

  /** Those that were given in other processes for the session of this one. */
  async #takeSessionAnswers(store: Store): Promise<void> {
    const given = await store.list(`${sessionPrefix}${this.#settings.process()}/`, { limit: most });
    for (const { key, value, version } of given) {
      const record = parseRecord(value);
      if ((await store.delete(key, version)) && record) this.#keepAs(record, "session", undefined);
    }
  }

  async #read(): Promise<void> {
    await this.#loaded();
    try {
      const store = await this.#settings.store();
      this.#isLasting = store.durable;
      for (let changes = -1; changes !== this.#changes;) {
        changes = this.#changes;
        const records = store.durable ? await readAll(store) : [];
        this.#always = new Map(records.map((record) => [record.place, record]));
      }
      await this.#takeSessionAnswers(store);
      this.#problem = undefined;
    } catch (error) {
      this.#always = new Map();
      this.#problem = (error as Error).message;
    }
    this.#readAt = this.#settings.now();
  }
}

function aboutRecord(
  { id, server, toolId, caller, account, project }: ApprovalRecord,
  remembered: Remembering,
): Omit<ApprovalRemembered, "type" | "at"> {
  return {
    approval: id,
    server,
    tool: toolId,
    remembered,
    ...(caller !== undefined && { caller }),
    ...(account !== undefined && { account }),
    ...(project !== undefined && { project }),
  };
}

function keyOf({ id }: ApprovalRecord): string {
  return `${prefix}${id}`;
}

/** The oldest first. */
async function readAll(store: Store): Promise<ApprovalRecord[]> {
  const entries = await store.list(prefix, { limit: 2 * most });
  const records = entries.flatMap(({ value }) => parseRecord(value) ?? []);
  return records.toSorted((one, other) => one.at - other.at);
}
