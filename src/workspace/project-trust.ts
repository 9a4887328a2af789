import { existsSync } from "node:fs";
import type { FieldChange } from "../config/lock/changes.ts";
import type { LoadedConfig, ServerEntry } from "../config/model.ts";
import { shownEntry, shownSettings } from "../config/show/fields.ts";
import type { ContentHash } from "../config/trust/content-hash.ts";
import { fingerprint, settingsFingerprint } from "../config/trust/fingerprint.ts";
import { hashesOf, judgeTrust } from "../config/trust/judge.ts";
import type { ScriptHashes, TrustVerdict } from "../config/trust/judge.ts";
import { changesSince, remember } from "../config/trust/remembered.ts";
import { findScripts } from "../config/trust/scripts.ts";
import type { Scripts } from "../config/trust/scripts.ts";
import { PlugboardError } from "../errors.ts";
import { canonicalJson } from "../lib/canonical.ts";
import type { Environment } from "../lib/folders.ts";
import type { WorkspaceState } from "./state.ts";
import { belongsTo } from "./trust-records.ts";
import type { TrustedContent } from "./trust-records.ts";

/** What `trust` would cover besides the entry itself. */
export interface Review extends Scripts {
  /** Set if the server was trusted before with another content: what changed. */
  since?: string;
  /** What is different in the entry itself; absent if only its scripts changed, or what it was is not known. */
  changes?: FieldChange[];
}

/** The same for a project file's settings. */
export type SettingsReview = Pick<Review, "since" | "changes">;

/** A trusted content, and whether it is still the one in use. */
export interface KnownContent extends TrustedContent {
  /** True if the configuration as it is now has exactly this content. */
  inUse: boolean;
}

type ScriptsOf = Pick<ServerEntry, "config" | "baseDir" | "variables" | "origin">;

interface ProjectTrustSettings {
  state: WorkspaceState;
  projectRoot: string;
  env: Environment;
  home: string;
}

/** What this user has trusted in one project. See docs/decisions/0004-trust-by-content.md. */
export class ProjectTrust {
  readonly #state: WorkspaceState;
  readonly #projectRoot: string;
  readonly #context: Pick<ProjectTrustSettings, "projectRoot" | "env" | "home">;

  constructor({ state, projectRoot, env, home }: ProjectTrustSettings) {
    this.#state = state;
    this.#projectRoot = projectRoot;
    this.#context = { projectRoot, env, home };
  }

  /** The hashes of the scripts of each content that was trusted under a fingerprint, latest first. */
  async contents(mark: string): Promise<ScriptHashes[]> {
    return (await this.#state.trusted(mark)).map(({ scripts }) => scripts);
  }

  /** False if something that was trusted when the configuration was loaded is not any more. Reads no file of the project. */
  async isStillTrusted({ servers, sources }: LoadedConfig): Promise<boolean> {
    const trusted = [
      ...[...servers.values()].flatMap((entry) =>
        entry.needsTrust && entry.trustedScripts
          ? [{ mark: this.#mark(entry), scripts: entry.trustedScripts }]
          : [],
      ),
      ...sources.flatMap(({ settingsMark }) => (settingsMark ? [{ mark: settingsMark, scripts: {} }] : [])),
    ];
    const checks = trusted.map(async ({ mark, scripts }) => {
      const kept = (await this.contents(mark)).map((one) => contentKey(mark, one));
      return kept.includes(contentKey(mark, scripts));
    });
    return (await Promise.all(checks)).every(Boolean);
  }

  /** The project's files that each entry runs, as they are now. A file that several name is read once. */
  async scripts(entries: readonly ScriptsOf[]): Promise<Scripts[]> {
    const context = { ...this.#context, hashes: new Map<string, Promise<ContentHash>>() };
    const found: Scripts[] = [];
    for (const entry of entries) found.push(await findScripts(entry, context));
    return found;
  }

  /** The same before `trust`, and what changed since another content was trusted. */
  async review(entries: readonly ServerEntry[]): Promise<Review[]> {
    const earlier = await this.#earlier();
    const scripts = await this.scripts(entries);
    return Promise.all(
      entries.map(async (entry, index): Promise<Review> => {
        const found = scripts[index] ?? { files: [] };
        const contents = await this.contents(this.#mark(entry));
        const verdict = await judgeTrust(contents, async () => found);
        if (verdict.isTrusted) return found;
        if (contents.length > 0) return { ...found, since: verdict.why };
        return { ...found, ...changedEntry(entry, earlier) };
      }),
    );
  }

  /** The same for settings: they are trusted by file. */
  async reviewSettings(settings: Record<string, unknown>, file: string): Promise<SettingsReview> {
    const latest = (await this.#earlier()).find((one) => one.settings !== undefined && one.file === file);
    if (!latest) return {};
    const changes =
      latest.content && changesSince(latest.content, latest.fingerprint, settings, shownSettings(settings));
    return { since: "they changed since you trusted them", ...(changes && { changes }) };
  }

  /** Says of entries that were trusted with another content that they changed, which is more than that they are not trusted. */
  async withChanges(config: LoadedConfig): Promise<LoadedConfig> {
    const waiting = [...config.servers.values()].filter(isUntrusted);
    if (waiting.length === 0) return config;
    const earlier = await this.#earlier();
    const servers = new Map(config.servers);
    for (const entry of waiting) {
      const { since, changes = [] } = changedEntry(entry, earlier);
      // Under a fingerprint that is known, its scripts changed, and that is said already.
      const isSame = earlier.some((one) => one.fingerprint === this.#mark(entry));
      if (since === undefined || isSame || entry.status.kind !== "disabled") continue;
      const fields = [...new Set(changes.map(({ path }) => path))];
      const named = fields.length > 0 && fields.length <= 3 ? ` (${fields.join(", ")})` : "";
      servers.set(entry.name, { ...entry, status: { ...entry.status, message: since + named } });
    }
    return { ...config, servers };
  }

  /** What was trusted in this project, latest first. */
  async #earlier(): Promise<TrustedContent[]> {
    return (await this.#state.allTrusted()).filter((one) => belongsTo(one, this.#projectRoot));
  }

  /** Trusts an entry and its scripts, as they were reviewed. */
  async trust(entry: ServerEntry, reviewed?: Scripts): Promise<void> {
    const { files, problem } = reviewed ?? (await findScripts(entry, this.#context));
    if (problem !== undefined) {
      throw new PlugboardError("untrusted", `Server "${entry.name}" cannot be trusted: ${problem}.`, {
        server: entry.name,
        hint: "Name a smaller file, or add the server to your own configuration with `plugboard add`.",
      });
    }
    await this.#keep(entry, hashesOf(files));
  }

  /** Trusts the settings of a project file. */
  async trustSettings(settings: Record<string, unknown>, file: string): Promise<void> {
    const mark = settingsFingerprint(settings, file, this.#projectRoot);
    const about = { settings: Object.keys(settings), file, project: this.#projectRoot };
    const content = remember(settings, shownSettings(settings), mark);
    await this.#state.trust({ fingerprint: mark, ...about, scripts: {}, content });
  }

  /** For edits of ours that keep the meaning: afterwards `keep` trusts the new text with the same scripts. */
  async carryOver(entry: ServerEntry): Promise<{ keep(after: ServerEntry): Promise<void> } | undefined> {
    const verdict = entry.needsTrust && (await this.#judge(entry));
    if (!verdict || !verdict.isTrusted) return undefined;
    return { keep: (after) => this.#keep(after, verdict.scripts) };
  }

  /** Every content that was trusted, in this project or in all, and whether it is the one in use now. */
  async list(config: LoadedConfig, options: { allProjects?: boolean } = {}): Promise<KnownContent[]> {
    const inUse = new Set([
      ...[...config.servers.values()].flatMap((entry) =>
        entry.trustedScripts ? [contentKey(this.#mark(entry), entry.trustedScripts)] : [],
      ),
      ...config.sources.flatMap((source) =>
        source.settingsMark ? [contentKey(source.settingsMark, {})] : [],
      ),
    ]);
    return (await this.#state.allTrusted())
      .filter((content) => options.allProjects || belongsTo(content, this.#projectRoot))
      .map((content) => ({ ...content, inUse: inUse.has(contentKey(content.fingerprint, content.scripts)) }));
  }

  /** Revokes every content of a server's name in this project. False if there was none. */
  async distrust(entry: Pick<ServerEntry, "name">): Promise<boolean> {
    return (await this.#state.distrust((content) => this.#isOf(entry, content))).length > 0;
  }

  /** Revokes all contents that `isMeant` selects, in every project, and returns them. */
  revoke(isMeant: (content: TrustedContent) => boolean): Promise<TrustedContent[]> {
    return this.#state.distrust(isMeant);
  }

  /** Forgets earlier contents of this project, and all contents of projects that are gone. Returns them. */
  async purge(config: LoadedConfig): Promise<TrustedContent[]> {
    const unused = (await this.list(config)).filter(({ inUse }) => !inUse);
    const keys = new Set(unused.map(({ fingerprint: mark, scripts }) => contentKey(mark, scripts)));
    return this.#state.distrust(({ fingerprint: mark, scripts, project }) => {
      const isGone = project !== undefined && !existsSync(project);
      return isGone || keys.has(contentKey(mark, scripts));
    });
  }

  async #judge(entry: ServerEntry): Promise<TrustVerdict> {
    return judgeTrust(await this.contents(this.#mark(entry)), () => findScripts(entry, this.#context));
  }

  async #keep(entry: ServerEntry, scripts: ScriptHashes): Promise<void> {
    const { file } = entry.origin;
    const mark = this.#mark(entry);
    await this.#state.trust({
      fingerprint: mark,
      server: entry.name,
      ...(file !== undefined && { file }),
      project: this.#projectRoot,
      scripts,
      content: remember(entry.written, shownEntry(entry), mark),
    });
  }

  #mark(entry: ServerEntry): string {
    return fingerprint(entry, this.#projectRoot);
  }

  #isOf({ name }: Pick<ServerEntry, "name">, content: TrustedContent): boolean {
    return content.server === name && belongsTo(content, this.#projectRoot);
  }
}

function isUntrusted({ status }: ServerEntry): boolean {
  return status.kind === "disabled" && status.reason === "untrusted";
}

/** Compares an entry with the latest content that was trusted under its name. */
function changedEntry(
  entry: ServerEntry,
  earlier: readonly TrustedContent[],
): Pick<Review, "since" | "changes"> {
  const latest = earlier.find(({ server }) => server === entry.name);
  if (!latest) return {};
  const { content, fingerprint: mark } = latest;
  const changes = content && changesSince(content, mark, entry.written, shownEntry(entry));
  const unknown = changes ? "" : "; what it was then is not recorded";
  return { since: `its entry changed since you trusted it${unknown}`, ...(changes && { changes }) };
}

function contentKey(mark: string, scripts: ScriptHashes): string {
  return `${mark} ${canonicalJson(scripts)}`;
}
