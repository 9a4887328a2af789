import { isRecord } from "../../lib/record.ts";
import { lost, noEquivalent, type ReadDraft, setField, takeField, type WriteDraft } from "./draft.ts";
import { type ConfigField, isExpanded } from "./flat-config.ts";

/** Reads and writes one field of a client. */
export interface Rule {
  /** Stores the value in the draft, or returns what is wrong with it; the server is then skipped. */
  read(value: unknown, field: string, draft: ReadDraft): string | undefined;
  /** The field's value for one of our servers; undefined if it is not written. */
  write?(draft: WriteDraft, field: string): unknown;
}

/** Rules apply in order: of two spellings of one field, the first wins. */
export type Rules = Readonly<Record<string, Rule>>;

export function text(target: ConfigField): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "string") return `\`${field}\` is not a string`;
      setField(draft, target, isExpanded(target) ? draft.translate(value, field) : value, field);
      return undefined;
    },
    write: (draft, field) => {
      const value = takeField(draft, target);
      if (typeof value !== "string" || !isExpanded(target)) return value;
      const written = draft.translate(value, field);
      if (written === null) return undefined;
      // Of a login, what the client cannot look up is left out: it would be sent literally.
      return written ?? (target.startsWith("oauth.") ? undefined : value);
    },
  };
}

export function texts(target: ConfigField): Rule {
  return {
    read: (value, field, draft) => {
      const list = textList(value);
      if (!list) return `\`${field}\` is not a list of strings`;
      const translated = isExpanded(target)
        ? list.map((item, index) => draft.translate(item, `${field}[${index}]`))
        : list;
      if (list.length > 0) setField(draft, target, translated, field);
      return undefined;
    },
    write: (draft, field) => {
      const list = takeField(draft, target);
      if (!Array.isArray(list) || !isExpanded(target)) return list;
      return list.flatMap((item: string, index) => {
        const written = draft.translate(item, `${field}[${index}]`);
        return written === null ? [] : (written ?? item);
      });
    },
  };
}

/** An object with string values. A value that the client cannot look up is left out: the server would take it literally. */
export function record(target: ConfigField): Rule {
  return {
    read: (value, field, draft) => {
      if (!isRecord(value)) return `\`${field}\` is not an object`;
      const entries: [string, string][] = [];
      for (const [key, member] of Object.entries(value)) {
        if (member === null)
          draft.notes.push(lost(`${field}.${key}`, "unsets a variable, which Plugboard cannot do"));
        else if (!isScalar(member)) return `\`${field}.${key}\` is not a string`;
        else {
          entries.push([
            key,
            isExpanded(target) ? draft.translate(String(member), `${field}.${key}`) : String(member),
          ]);
        }
      }
      if (entries.length > 0) setField(draft, target, Object.fromEntries(entries), field);
      return undefined;
    },
    write: (draft, field) => {
      const members = takeField(draft, target);
      if (!isRecord(members)) return undefined;
      const entries = Object.entries(members).map(([key, value]) => {
        const member = String(value);
        return [key, isExpanded(target) ? draft.translate(member, `${field}.${key}`) : member] as const;
      });
      const written = entries.filter(([, value]) => typeof value === "string");
      return written.length > 0 ? Object.fromEntries(written) : undefined;
    },
  };
}

/** A boolean whose default is not written. */
export function flag(
  target: ConfigField,
  { usual, inverted = false }: { usual: boolean; inverted?: boolean },
): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "boolean") return `\`${field}\` must be true or false`;
      const ours = value !== inverted;
      if (ours !== usual) setField(draft, target, ours, field);
      return undefined;
    },
    write: (draft) => {
      const value = draft.config.get(target);
      if (typeof value !== "boolean") return undefined;
      draft.config.delete(target);
      return value === usual ? undefined : value !== inverted;
    },
  };
}

/** A boolean that maps to one of our values when it is true. */
export function standsFor(target: ConfigField, ours: unknown): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "boolean") return `\`${field}\` must be true or false`;
      if (value) setField(draft, target, ours, field);
      return undefined;
    },
    write: (draft) => {
      if (draft.config.get(target) !== ours) return undefined;
      draft.config.delete(target);
      return true;
    },
  };
}

/** A field that can have two kinds of value. */
export function either(fits: (value: unknown) => boolean, first: Rule, second: Rule): Rule {
  return {
    read: (value, field, draft) => (fits(value) ? first : second).read(value, field, draft),
    write: (draft, field) => first.write?.(draft, field) ?? second.write?.(draft, field),
  };
}

export const enabled = flag("enabled", { usual: true });
export const disabled = flag("enabled", { usual: true, inverted: true });

export function duration(target: ConfigField, unit: "milliseconds" | "seconds"): Rule {
  const factor = unit === "seconds" ? 1000 : 1;
  return {
    read: (value, field, draft) => {
      if (typeof value !== "number") return `\`${field}\` is not a number`;
      const milliseconds = Math.round(value * factor);
      if (milliseconds >= 1 && milliseconds <= 86_400_000) setField(draft, target, milliseconds, field);
      else draft.notes.push(lost(field, "is not between 1 ms and 1 day; our default applies"));
      return undefined;
    },
    write: (draft) => {
      const milliseconds = takeField(draft, target);
      return typeof milliseconds === "number" ? milliseconds / factor : undefined;
    },
  };
}

/** An enum; `words` maps theirs to ours. If several map to the same value, we write the first. */
export function choice(target: ConfigField, words: Readonly<Record<string, string>>): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "string" || !Object.hasOwn(words, value))
        return `\`${field}\` has an unknown value`;
      setField(draft, target, words[value], field);
      return undefined;
    },
    write: (draft) => {
      const word = Object.keys(words).find((theirs) => words[theirs] === draft.config.get(target));
      if (word !== undefined) draft.config.delete(target);
      return word;
    },
  };
}

/** A field whose value is an object with fields of its own. */
export function nested(rules: Rules): Rule {
  return {
    read: (value, field, draft) =>
      isRecord(value) ? readFields(value, rules, draft, `${field}.`) : `\`${field}\` is not an object`,
    write: (draft, field) => {
      const members = writeFields(rules, draft, `${field}.`);
      return Object.keys(members).length > 0 ? members : undefined;
    },
  };
}

/** Reads a field that we do not write. */
export function readOnly(rule: Rule): Rule {
  return { read: (value, field, draft) => rule.read(value, field, draft) };
}

/** A known field that Plugboard does not support. */
export function unsupported(reason: string): Rule {
  return {
    read: (_value, field, draft) => {
      draft.notes.push(lost(field, reason));
      return undefined;
    },
  };
}

/** Reads all known fields and adds a note for each unknown one. Returns why the entry is unusable, if it is. */
export function readFields(
  entry: Record<string, unknown>,
  rules: Rules,
  draft: ReadDraft,
  prefix = "",
): string | undefined {
  for (const [field, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(entry, field) ? entry[field] : undefined;
    if (value === undefined || value === null) continue;
    const problem = rule.read(value, prefix + field, draft);
    if (problem !== undefined) return problem;
  }
  for (const [field, value] of Object.entries(entry)) {
    if (!Object.hasOwn(rules, field) && !isEmpty(value)) draft.notes.push(lost(prefix + field, noEquivalent));
  }
  return undefined;
}

function isEmpty(value: unknown): boolean {
  if (isRecord(value)) return Object.keys(value).length === 0;
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

export function writeFields(rules: Rules, draft: WriteDraft, prefix = ""): Record<string, unknown> {
  const fields = Object.entries(rules).map(
    ([field, rule]) => [field, rule.write?.(draft, prefix + field)] as const,
  );
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

export function textList(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every(isScalar) ? value.map(String) : undefined;
}

/** YAML and hand-written JSON often have numbers where strings are expected; a process gets them as strings anyway. */
function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** A second name inside the entry; Plugboard keeps only the one the server is listed under. */
export const label: Rule = {
  read: (value, field, draft) => {
    if (value !== draft.name)
      draft.notes.push(lost(field, "Plugboard uses the name that the server is listed under"));
    return undefined;
  },
  write: (draft) => draft.name,
};
