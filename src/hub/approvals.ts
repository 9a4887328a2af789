import type { ApprovalRecord } from "../calls/approvals/record.ts";
import type { Recalled, RememberedApprovals } from "../calls/approvals/remembered.ts";
import { changedWords, coversWords } from "../calls/approvals/words.ts";
import type { ToolEntry } from "../catalog/tool-entry.ts";
import type { LoadedConfig } from "../config/model.ts";
import { PlugboardError } from "../errors.ts";
import type { Remembering } from "../interact/interact.ts";

/** A remembered answer. JSON-safe. */
export interface ApprovalEntry extends Omit<ApprovalRecord, "place" | "entry" | "definition"> {
  remembered: Remembering;
  /** What it covers, in words. */
  covers: string;
  /** Why it does not count here or now; the question would be asked again. */
  stale?: string;
}

/** Which answers to forget. */
export type RevokedApprovals = { id: string } | { server: string } | { all: true };

/** The answers that a hub remembers, of all callers. */
export class Approvals {
  readonly #remembered: RememberedApprovals;
  readonly #config: () => LoadedConfig;

  constructor(remembered: RememberedApprovals, config: () => LoadedConfig) {
    this.#remembered = remembered;
    this.#config = config;
  }

  /** The oldest first. Fails with `store-unavailable` if they cannot be read. */
  async list(): Promise<ApprovalEntry[]> {
    return (await this.#remembered.list()).map((one) => this.entry(one));
  }

  /** Forgets answers and returns them; the next call is asked about again. Other processes follow within a second. */
  async revoke(which: RevokedApprovals): Promise<ApprovalEntry[]> {
    const revoked = await this.#remembered.revoke(
      (record) =>
        ("id" in which && record.id === which.id) ||
        ("server" in which && record.server === which.server) ||
        ("all" in which && which.all),
    );
    if (revoked.length === 0 && "id" in which)
      throw new PlugboardError("usage-invalid", `There is no remembered answer "${which.id}".`, {
        hint: "`plugboard approvals list` and `hub.approvals.list()` show those that there are.",
      });
    return revoked.map((one) => this.entry(one));
  }

  entry({ record, remembered }: Recalled, tool?: ToolEntry): ApprovalEntry {
    const { place: _place, entry: _entry, definition: _definition, ...rest } = record;
    const stale = this.#stale(record, tool);
    return { ...rest, remembered, covers: coversWords(record), ...(stale !== undefined && { stale }) };
  }

  #stale(record: ApprovalRecord, tool: ToolEntry | undefined): string | undefined {
    const entry = this.#config().servers.get(record.server);
    if (entry?.baseDir !== record.folder) return `it is about the server in ${record.folder}`;
    const changed = this.#remembered.changed(record, { entry, tool });
    return changed && changedWords(changed);
  }
}
