import { isPlainWord } from "../../lib/plain-word.ts";
import { loginsIn } from "../../lib/url-logins.ts";
import { literalSecrets } from "../literal-secrets.ts";
import type { ServerConfig } from "../server-schema.ts";
import { shownEntry } from "./fields.ts";

/** Shorter ones may be parts of ordinary words. */
const minPiece = 8;

/** What is hidden where an entry is shown, so that it can be hidden in messages about the server as well. */
export function unshownValues(config: ServerConfig): string[] {
  const found = new Set<string>(literalSecrets("", config).map(({ value }) => value));
  const compare = (shown: unknown, value: unknown) => {
    if (typeof value === "string") {
      if (shown !== value) for (const one of secretParts(value)) found.add(one);
    } else if (typeof value === "object" && value !== null) {
      const inside = (typeof shown === "object" && shown !== null ? shown : {}) as Record<string, unknown>;
      for (const [key, member] of Object.entries(value)) compare(inside[key], member);
    }
  };
  compare(shownEntry({ written: config }), config);
  return [...found];
}

/** The whole, and whatever in it may be a token. Plain words such as `info` or `8080` are not hidden elsewhere. */
function secretParts(value: string): string[] {
  const logins = loginsIn(value);
  if (logins.length === 0 && isPlainWord(value)) return [];
  const pieces = value.split(/[^\p{L}\p{N}_.+~-]+/u).map((piece) => piece.replace(/^-+/, ""));
  return [value, ...logins, ...pieces.filter((piece) => piece.length >= minPiece && !isPlainWord(piece))];
}
