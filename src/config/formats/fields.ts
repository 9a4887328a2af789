import { isRecord } from "../../lib/record.ts";
import { lost, type ReadDraft, settle, take, type WriteDraft } from "./draft.ts";
import { type Home, isExpanded } from "./homes.ts";

/** What one field of a client means, in both directions. */
export interface Rule {
  /** Takes the value over, or says what is wrong with it so that the server is skipped. */
  read(value: unknown, field: string, draft: ReadDraft): string | undefined;
  /** The field's value for a server of ours, or nothing. */
  write?(draft: WriteDraft, field: string): unknown;
}

/** In the order in which they are looked at: of two spellings of one thing, the first wins. */
export type Rules = Readonly<Record<string, Rule>>;

export function text(home: Home): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "string") return `\`${field}\` is not a text`;
      settle(draft, home, isExpanded(home) ? draft.translate(value, field) : value, field);
      return undefined;
    },
    write: (draft, field) => {
      const value = take(draft, home);
      return typeof value === "string" && isExpanded(home) ? (draft.translate(value, field) ?? value) : value;
    },
  };
}

export function texts(home: Home): Rule {
  return {
    read: (value, field, draft) => {
      const list = textList(value);
      if (!list) return `\`${field}\` is not a list of texts`;
      const translated = isExpanded(home)
        ? list.map((item, index) => draft.translate(item, `${field}[${index}]`))
        : list;
      if (list.length > 0) settle(draft, home, translated, field);
      return undefined;
    },
    write: (draft, field) => {
      const list = take(draft, home);
      if (!Array.isArray(list) || !isExpanded(home)) return list;
      return list.map((item: string, index) => draft.translate(item, `${field}[${index}]`) ?? item);
    },
  };
}

/** Names with text values. A value that the client cannot look up is left out: its text would only mislead the server. */
export function record(home: Home): Rule {
  return {
    read: (value, field, draft) => {
      if (!isRecord(value)) return `\`${field}\` is not an object`;
      const entries: [string, string][] = [];
      for (const [key, member] of Object.entries(value)) {
        if (member === null)
          draft.notes.push(lost(`${field}.${key}`, "unsets a variable, which we cannot do"));
        else if (!isScalar(member)) return `\`${field}.${key}\` is not a text`;
        else {
          entries.push([
            key,
            isExpanded(home) ? draft.translate(String(member), `${field}.${key}`) : String(member),
          ]);
        }
      }
      if (entries.length > 0) settle(draft, home, Object.fromEntries(entries), field);
      return undefined;
    },
    write: (draft, field) => {
      const members = take(draft, home);
      if (!isRecord(members)) return undefined;
      const entries = Object.entries(members).map(([key, value]) => {
        const member = String(value);
        return [key, isExpanded(home) ? draft.translate(member, `${field}.${key}`) : member] as const;
      });
      const said = entries.filter(([, value]) => value !== undefined);
      return said.length > 0 ? Object.fromEntries(said) : undefined;
    },
  };
}

/** A switch; its usual position is not written down. */
export function flag(home: Home, { usual, inverted = false }: { usual: boolean; inverted?: boolean }): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "boolean") return `\`${field}\` is neither true nor false`;
      const ours = value !== inverted;
      if (ours !== usual) settle(draft, home, ours, field);
      return undefined;
    },
    write: (draft) => {
      const value = draft.homes.get(home);
      if (typeof value !== "boolean") return undefined;
      draft.homes.delete(home);
      return value === usual ? undefined : value !== inverted;
    },
  };
}

/** A switch that stands for one value of ours when it is on. */
export function standsFor(home: Home, ours: unknown): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "boolean") return `\`${field}\` is neither true nor false`;
      if (value) settle(draft, home, ours, field);
      return undefined;
    },
    write: (draft) => {
      if (draft.homes.get(home) !== ours) return undefined;
      draft.homes.delete(home);
      return true;
    },
  };
}

/** A field that holds one kind of value or another. */
export function either(fits: (value: unknown) => boolean, first: Rule, second: Rule): Rule {
  return {
    read: (value, field, draft) => (fits(value) ? first : second).read(value, field, draft),
    write: (draft, field) => first.write?.(draft, field) ?? second.write?.(draft, field),
  };
}

export const enabled = flag("enabled", { usual: true });
export const disabled = flag("enabled", { usual: true, inverted: true });

export function duration(home: Home, unit: "milliseconds" | "seconds"): Rule {
  const factor = unit === "seconds" ? 1000 : 1;
  return {
    read: (value, field, draft) => {
      if (typeof value !== "number") return `\`${field}\` is not a number`;
      const milliseconds = Math.round(value * factor);
      if (milliseconds >= 1 && milliseconds <= 86_400_000) settle(draft, home, milliseconds, field);
      else draft.notes.push(lost(field, "is not between a millisecond and a day; our default applies"));
      return undefined;
    },
    write: (draft) => {
      const milliseconds = take(draft, home);
      return typeof milliseconds === "number" ? milliseconds / factor : undefined;
    },
  };
}

/** A word out of few; `words` maps theirs to ours, and the first of several for the same meaning is the one we write. */
export function choice(home: Home, words: Readonly<Record<string, string>>): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "string" || !Object.hasOwn(words, value))
        return `\`${field}\` has an unknown value`;
      settle(draft, home, words[value], field);
      return undefined;
    },
    write: (draft) => {
      const word = Object.keys(words).find((theirs) => words[theirs] === draft.homes.get(home));
      if (word !== undefined) draft.homes.delete(home);
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

/** Reads a spelling that we do not write. */
export function readOnly(rule: Rule): Rule {
  return { read: (value, field, draft) => rule.read(value, field, draft) };
}

/** A field that is known, and known to have no place here. */
export function without(reason: string): Rule {
  return {
    read: (_value, field, draft) => {
      draft.notes.push(lost(field, reason));
      return undefined;
    },
  };
}

/** Reads every known field and notes every other one; answers what makes the entry unusable. */
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
    if (!Object.hasOwn(rules, field) && !saysNothing(value))
      draft.notes.push(lost(prefix + field, "there is nothing like it here"));
  }
  return undefined;
}

function saysNothing(value: unknown): boolean {
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

/** YAML and careless JSON write numbers where texts belong; a process gets them as text anyway. */
function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** A name inside the entry; one that differs from the server's name has no place here. */
export const label: Rule = {
  read: (value, field, draft) => {
    if (value !== draft.name)
      draft.notes.push(lost(field, "a server has one name here, the one it is listed under"));
    return undefined;
  },
};
