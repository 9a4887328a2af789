import { showsApps } from "../apps.ts";
import type { Method } from "../core.ts";
import { readCursor } from "../list-pages.ts";
import type { ListName } from "../list-pages.ts";
import { rawResult } from "../result.ts";

/** Clients that follow changes are told; the others look again after this long. */
const freshMs = 60_000;

const modernMembers = `,"resultType":"complete","ttlMs":${freshMs},"cacheScope":"private"`;

/** Lists from what is known, and changes are told. Only a server that nobody has listed before is waited for. */
export function listOf(name: ListName): Method {
  return async ({ client, params, signal }, { seal }) => {
    const { endpoint, caller, era } = client;
    const cursor = readCursor(seal, caller, name, params.value["cursor"]);
    const reader = { viewer: client, withApps: showsApps(client), signal };
    const pages = cursor
      ? await endpoint.earlierPages(cursor.version, name, reader)
      : await endpoint.pages(name, reader);
    return rawResult(pages.page(cursor?.index ?? 0, caller, seal, era === "modern" ? modernMembers : ""));
  };
}
