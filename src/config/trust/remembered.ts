import { canonicalJson, sha256 } from "../../lib/canonical.ts";
import { isRecord } from "../../lib/record.ts";
import { hidden } from "../../lib/secret-words.ts";
import { formatPath } from "../documents/document.ts";
import type { Path } from "../documents/document.ts";
import type { FieldChange } from "../lock/changes.ts";

/**
 * What is kept of a content that was trusted, so that a later one can be compared with it: each value by its path, as JSON
 * if it may be shown, otherwise only a hash. The hash is salted with the content's fingerprint.
 */
export type Remembered = Readonly<Record<string, string>>;

/** More values than this, and longer ones, are only compared, not shown. */
const mostValues = 500;
const longestValue = 2_000;
const hashMark = "#";

/** `shown` is the same value as it may be shown: its secrets are hidden. */
export function remember(written: unknown, shown: unknown, fingerprint: string): Remembered {
  const kept = leavesOf(written, shown).map(({ path, value, mayShow }, index) => {
    const json = canonicalJson(value);
    const isKept = mayShow && index < mostValues && json.length <= longestValue;
    return [path, isKept ? json : hashOf(path, json, fingerprint)];
  });
  return Object.fromEntries(kept) as Remembered;
}

/** What is different now, in the order of the paths. What could not be kept is shown as hidden; what is there now, as written. */
export function changesSince(
  before: Remembered,
  fingerprint: string,
  written: unknown,
  shown: unknown,
): FieldChange[] {
  const now = new Map(leavesOf(written, shown).map(({ path, value }) => [path, value]));
  const paths = [...new Set([...Object.keys(before), ...now.keys()])].sort();
  return paths.flatMap((path): FieldChange[] => {
    const was = Object.hasOwn(before, path) ? before[path] : undefined;
    const json = now.has(path) ? canonicalJson(now.get(path)) : undefined;
    if (was === json || (json !== undefined && was === hashOf(path, json, fingerprint))) return [];
    return [
      {
        path,
        ...(was !== undefined && {
          before: was.startsWith(hashMark) ? hidden : (JSON.parse(was) as unknown),
        }),
        ...(json !== undefined && { after: now.get(path) }),
      },
    ];
  });
}

function hashOf(path: string, json: string, fingerprint: string): string {
  return `${hashMark}${sha256(`${fingerprint} ${path} ${json}`)}`;
}

interface Leaf {
  path: string;
  value: unknown;
  mayShow: boolean;
}

/** Goes only as deep as what is shown, so that no hidden name becomes part of a path. */
function leavesOf(written: unknown, shown: unknown, path: Path = []): Leaf[] {
  const isList = Array.isArray(written) && Array.isArray(shown) && written.length === shown.length;
  const isObject =
    isRecord(written) && isRecord(shown) && Object.keys(written).every((key) => Object.hasOwn(shown, key));
  if (isList && written.length > 0)
    return written.flatMap((item: unknown, index) =>
      leavesOf(item, (shown as unknown[])[index], [...path, index]),
    );
  if (isObject && Object.keys(written).length > 0)
    return Object.entries(written).flatMap(([key, member]) => leavesOf(member, shown[key], [...path, key]));
  const mayShow = canonicalJson(written) === canonicalJson(shown);
  return [{ path: formatPath(path), value: written, mayShow }];
}
