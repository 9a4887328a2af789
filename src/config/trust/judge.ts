import { PlugboardError } from "../../errors.ts";
import type { ServerEntry } from "../model.ts";
import { fingerprint } from "./fingerprint.ts";
import type { TrustedContents } from "./fingerprint.ts";
import { findScripts } from "./scripts.ts";
import type { ScriptContext, ScriptFile, Scripts } from "./scripts.ts";

/** The hashes of the scripts that were trusted with an entry, by path. */
export type ScriptHashes = Readonly<Record<string, string>>;

export type TrustVerdict =
  | { isTrusted: true; scripts: ScriptHashes }
  /** `why` completes "the server cannot be used: …". */
  | { isTrusted: false; why: string };

/** Compares what an entry would run now with the contents that were trusted, latest first. Without any, reads nothing. */
export async function judgeTrust(
  contents: readonly ScriptHashes[],
  find: () => Promise<Scripts>,
): Promise<TrustVerdict> {
  const [latest] = contents;
  if (!latest) return { isTrusted: false, why: "this project's entry is not trusted yet" };
  const { files, problem } = await find();
  if (problem !== undefined) return { isTrusted: false, why: problem };
  const now = hashesOf(files);
  const isKnown = contents.some((one) => changesBetween(one, now).length === 0);
  return isKnown
    ? { isTrusted: true, scripts: now }
    : { isTrusted: false, why: changeWords(changesBetween(latest, now)) };
}

export function hashesOf(files: readonly ScriptFile[]): ScriptHashes {
  return Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]));
}

export interface StartContext extends ScriptContext {
  /** What the user trusts by now, which may be less than when the configuration was loaded. */
  trust?: TrustedContents | undefined;
}

/**
 * Fails if the trust was revoked, or if a script is not what it was when its entry was judged. Called right before anything of the entry runs; also
 * with its values filled in, because a value may name a script of the project that nobody has seen.
 */
export async function assertStillTrusted(entry: ServerEntry, context: StartContext): Promise<void> {
  if (!entry.needsTrust) return;
  const { name, trustedScripts = {} } = entry;
  const refused = (why: string, changed: string[] = []) =>
    new PlugboardError("untrusted", `Server "${name}" was not started: ${why}.`, {
      server: name,
      data: { changed },
    });
  const contents = await context.trust?.(fingerprint(entry, context.projectRoot));
  if (contents?.every((one) => changesBetween(one, trustedScripts).length > 0))
    throw refused("you revoked your trust in it");
  const { files, problem } = await findScripts(entry, context);
  const changed = files.filter(({ path, sha256 }) => trustedScripts[path] !== sha256).map(({ path }) => path);
  if (problem !== undefined || changed.length > 0) throw refused(problem ?? changeWords(changed), changed);
}

function changesBetween(before: ScriptHashes, now: ScriptHashes): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (path) => before[path] !== now[path],
  );
}

function changeWords(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).join(", ");
  return `${shown}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""} changed since you trusted it`;
}
