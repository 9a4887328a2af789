import { canonicalJson, sha256 } from "../lib/canonical.ts";
import { isInside } from "../lib/folders.ts";
import { isRecord } from "../lib/record.ts";
import type { ScriptHashes } from "../config/trust/judge.ts";
import type { Remembered } from "../config/trust/remembered.ts";
import type { Store } from "../store/store.ts";

/** One content that this user has trusted: of a server, or of a project file's settings. */
export interface TrustedContent {
  /** Identifies the content. */
  fingerprint: string;
  server?: string;
  /** The keys of the settings. */
  settings?: string[];
  file?: string;
  project?: string;
  /** The hashes of the project's scripts that the content runs, by path. */
  scripts: ScriptHashes;
  /** The content without its secrets, to show later what changed. Earlier versions did not keep it. */
  content?: Remembered;
  /** When it was trusted, in milliseconds since the epoch. */
  at: number;
}

const prefix = "trust/";

/** The contents under one fingerprint, latest first. */
export async function contentsOf(store: Store, fingerprint: string): Promise<TrustedContent[]> {
  return parseAll(await store.list(`${prefix}${fingerprint}`));
}

export async function allContents(store: Store): Promise<TrustedContent[]> {
  return parseAll(await store.list(prefix));
}

export async function keepContent(store: Store, content: TrustedContent): Promise<void> {
  const { fingerprint: _, ...about } = content;
  await store.set(keyOf(content), about);
}

export function forgetContent(store: Store, content: TrustedContent): Promise<boolean> {
  return store.delete(keyOf(content));
}

/** True if the content was trusted in this project. Earlier versions kept only the file. */
export function belongsTo({ project, file }: TrustedContent, projectRoot: string): boolean {
  if (project !== undefined) return project === projectRoot;
  return file !== undefined && isInside(projectRoot, file);
}

/** The same entry may be trusted with several contents of its scripts, for example of two branches. */
function keyOf({ fingerprint, scripts }: TrustedContent): string {
  const hasScripts = Object.keys(scripts).length > 0;
  return `${prefix}${fingerprint}${hasScripts ? `/${sha256(canonicalJson(scripts))}` : ""}`;
}

/** A record of an unknown shape trusts nothing. */
function parseAll(entries: readonly { key: string; value: unknown }[]): TrustedContent[] {
  return entries
    .flatMap(({ key, value }) => {
      if (!isRecord(value)) return [];
      const { server, settings, file, project, scripts = {}, content, at } = value;
      if (!isTexts(scripts)) return [];
      const [fingerprint = ""] = key.slice(prefix.length).split("/");
      return [
        {
          fingerprint,
          ...(typeof server === "string" && { server }),
          ...(Array.isArray(settings) && { settings: settings.map(String) }),
          ...(typeof file === "string" && { file }),
          ...(typeof project === "string" && { project }),
          scripts,
          ...(isTexts(content) && { content }),
          at: typeof at === "number" ? at : 0,
        },
      ];
    })
    .sort((one, other) => other.at - one.at);
}

function isTexts(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === "string");
}
