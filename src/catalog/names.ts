import { sha256 } from "../lib/canonical.ts";

/** How tool ids are built: `mcp__server__tool` or `server__tool`, and how long they may be. */
export interface Naming {
  style: "mcp" | "server";
  maxLength: number;
}

export const defaultNaming: Naming = { style: "mcp", maxLength: 64 };

/**
 * The id that the model sees. Ids are stored in snapshots, pins and approvals, so an id depends on one server and one
 * name only: two plain parts joined by `__`. If a part is not plain or the id is too long, both parts are made legal
 * and cut, and a hash of the originals follows another `__`. A plain id never has that third part, so the two forms
 * cannot collide.
 */
export function toolId(server: string, name: string, { style, maxLength }: Naming = defaultNaming): string {
  const prefix = style === "mcp" ? "mcp__" : "";
  const plain = `${prefix}${server}__${name}`;
  if (isPlain(server) && isPlain(name) && plain.length <= maxLength) return plain;
  const hash = hashOf(server, name);
  const room = roomFor({ style, maxLength });
  const cutServer = cut(server, room);
  const shownName = legal(name).slice(0, room - cutServer.length);
  return `${prefix}${trim(cutServer)}__${trim(shownName)}__${hash}`;
}

/** A server's name in ids with a hash. */
export function shownServer(server: string, naming: Naming): string {
  return trim(cut(server, roomFor(naming)));
}

const hashLength = 8;

/** The length left for server and name after prefix, separators and hash. */
function roomFor({ style, maxLength }: Naming): number {
  return maxLength - (style === "mcp" ? 5 : 0) - hashLength - 4;
}

function cut(server: string, room: number): string {
  return legal(server).slice(0, Math.max(4, Math.floor(room / 3)));
}

/** No `__` inside and no `_` at the ends, so that only separators are double underscores. */
function isPlain(part: string): boolean {
  return /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/.test(part);
}

function legal(part: string): string {
  return part.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/^_+|_+$/g, "") || "x";
}

function trim(part: string): string {
  return part.replaceAll(/^_+|_+$/g, "") || "x";
}

function hashOf(server: string, name: string): string {
  const digest = sha256(`${server.length}:${server}${name}`);
  return BigInt(`0x${digest.slice(0, 20)}`)
    .toString(36)
    .padStart(hashLength, "0")
    .slice(0, hashLength);
}
