import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { inspect } from "node:util";
import { onTestFinished } from "vitest";
import { createHub, isPlugboardError } from "../../src/index.ts";
import type { ConfigLiteral, EventType, Hub, HubOptions } from "../../src/index.ts";

/** Secrets that were planted, what was seen meanwhile, and which of the former are in the latter. */
export class Canaries {
  readonly #planted = new Map<string, string>();
  readonly #seen: { where: string; text: string }[] = [];

  /** A new one, or one that somebody else made. */
  plant(what: string, value: string = newSecret()): string {
    this.#planted.set(value, what);
    return value;
  }

  /** How many there are. */
  get planted(): number {
    return this.#planted.size;
  }

  see(where: string, content: string | Buffer): void {
    this.#seen.push({ where, text: typeof content === "string" ? content : content.toString("latin1") });
  }

  /** An error in every way in which a program may print or send it. */
  seeError(where: string, error: unknown): void {
    let chain: unknown = error;
    for (let depth = 0; depth < 10 && chain instanceof Error; depth++, chain = chain.cause)
      this.see(`${where}, cause ${depth}`, `${String(chain)}\n${chain.stack ?? ""}`);
    this.see(`${where}, inspected`, inspect(error, { depth: 10, showHidden: true, maxStringLength: null }));
    this.see(`${where}, as JSON`, JSON.stringify(error) ?? "");
  }

  /** Every file below a folder; `given` are those in which the test itself wrote secrets. */
  seeFiles(folder: string, given: readonly string[] = []): void {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !given.includes(path)) this.see(relative(folder, path), readFileSync(path));
    }
  }

  /** Which kinds were planted, and which of them were found where. */
  report(): { planted: string[]; found: string[] } {
    return { planted: [...new Set(this.#planted.values())].sort(), found: this.#found() };
  }

  #found(): string[] {
    const found = new Set<string>();
    for (const [value, what] of this.#planted) {
      const forms = formsOf(value);
      for (const { where, text } of this.#seen) {
        const form = Object.keys(forms).find((name) => forms[name]?.some((one) => text.includes(one)));
        if (form !== undefined) found.add(`${what} in ${where} (${form})`);
      }
    }
    return [...found];
  }
}

/** Every character that a token may hold, so that the encoded forms differ from the plain one. */
function newSecret(): string {
  const part = () => randomBytes(15).toString("base64url");
  return `${part()}+${part()}/${part()}~`;
}

/** How a secret may look. A piece of it is found as well: a text that was cut in its middle still tells too much. */
function formsOf(value: string): Record<string, string[]> {
  const pieces: string[] = [];
  for (let at = 0; at + 12 <= value.length; at += 4) pieces.push(value.slice(at, at + 12));
  const bytes = Buffer.from(value);
  // Inside something longer it begins at one of three places of a base64 group.
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    return text.slice(shift === 0 ? 0 : 4).slice(0, 40);
  });
  const hex = bytes.toString("hex");
  return {
    plain: pieces.length > 0 ? pieces : [value],
    "URL-encoded": [encodeURIComponent(value)],
    base64: base64.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]),
    hex: [hex, hex.toUpperCase()],
  };
}

type Entry = ConfigLiteral["servers"][string];

const eventTypes: Record<EventType, true> = {
  "config-changed": true,
  "connection-changed": true,
  "catalog-changed": true,
  "call-start": true,
  "call-progress": true,
  "call-end": true,
  "startup-complete": true,
  "question-asked": true,
  "question-answered": true,
  "approval-parked": true,
  "approval-settled": true,
  "approval-remembered": true,
  "approval-revoked": true,
  "auth-changed": true,
  "issuer-chosen": true,
  "url-open-failed": true,
  "server-log": true,
};

/** A hub whose every word is seen. */
export async function openHub(canaries: Canaries, entry: object, options: HubOptions): Promise<Hub> {
  const hub = await createHub({ servers: { it: entry as Entry } }, { env: {}, ...options });
  onTestFinished(() => hub.close());
  for (const type of Object.keys(eventTypes) as EventType[])
    hub.on(type, (event) => canaries.see(`event ${type}`, JSON.stringify(event)));
  return hub;
}

export function seeHub(canaries: Canaries, where: string, hub: Hub): void {
  canaries.see(`${where}, status`, JSON.stringify(hub.status()));
  canaries.see(`${where}, hub as JSON`, JSON.stringify(hub));
  canaries.see(
    `${where}, hub inspected`,
    inspect(hub, { depth: 10, showHidden: true, maxStringLength: null }),
  );
}

/** The code of its failure, if it failed. */
export async function attempt(
  canaries: Canaries,
  where: string,
  work: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    canaries.seeError(where, error);
    return isPlugboardError(error) ? error.code : String(error);
  }
}
