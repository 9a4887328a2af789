import { hidden, looksSecret } from "./secret-words.ts";

/** How much of a value is shown, in characters of its strings and names. */
const mostCharacters = 4_096;
const mostMembers = 1_000;
const maxDepth = 16;
/** Longer than what is secret usually is: what is cut could hide in parts of one. */
const margin = 8_192;

/**
 * A copy of a JSON value for people who watch: members whose names look secret are hidden, strings pass through `redact`,
 * and long values are cut. Takes no longer for a large value than for one that just fits.
 */
export function shownValue(value: unknown, redact: (text: string) => string = (text) => text): unknown {
  return show(value, { redact, characters: mostCharacters, members: mostMembers }, 0);
}

interface Budget {
  redact(text: string): string;
  characters: number;
  members: number;
}

function show(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value === "string") return showText(value, budget);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? String(value) : value;
  if (depth === maxDepth) return "…";
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (isSpent(budget)) return [...items, `… (${value.length - items.length} more)`];
      items.push(show(item, budget, depth + 1));
    }
    return items;
  }
  const members: [string, unknown][] = [];
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (isSpent(budget)) {
      members.push(["…", "(more)"]);
      break;
    }
    const member = (value as Record<string, unknown>)[key];
    // Numbers and switches with such names, such as `maxTokens`, tell nothing.
    const isHidden = looksSecret(key) && typeof member !== "number" && typeof member !== "boolean";
    members.push([showText(key, budget), isHidden ? hidden : show(member, budget, depth + 1)]);
  }
  // Unlike assigning, this makes `__proto__` a member like any other.
  return Object.fromEntries(members);
}

function isSpent(budget: Budget): boolean {
  return budget.characters <= 0 || budget.members-- <= 0;
}

function showText(text: string, budget: Budget): string {
  const left = Math.max(0, budget.characters);
  const isLong = text.length > left + margin;
  const clean = budget.redact(isLong ? text.slice(0, left + margin) : text);
  // The end of what was cut may be half a secret that was not recognised.
  const kept = isLong ? clean.slice(0, Math.max(0, clean.length - margin)) : clean;
  budget.characters -= kept.length;
  if (kept.length <= left && !isLong) return kept;
  return `${kept.slice(0, left)}… (${text.length} characters)`;
}
