import { untilAborted } from "../lib/abortable.ts";
import { startDeadline } from "../lib/deadline.ts";
import type { Client } from "./exchange.ts";
import { Failure, invalidParams } from "./failure.ts";
import { candidates, readShownUri } from "./uris.ts";

export interface Owned {
  server: string;
  /** As the server knows it. */
  uri: string;
}

/**
 * The server that a URI belongs to, by the lists and templates that this caller can see and the links that it was given.
 * Where several servers have it, the one that gave this caller the link last; an unowned one is sent to nobody, nor is
 * one that names a server which does not have it. Servers whose lists are not known yet are asked for them first, so that
 * a client need not list before it reads.
 */
export async function ownerOf(shown: string, client: Client, signal: AbortSignal): Promise<Owned> {
  const only = client.endpoint.onlyServer();
  if (only !== undefined) return { server: only, uri: shown };
  const owned = (await knownOwner(shown, client)) ?? (await askedOwner(shown, client, signal));
  if (owned) return owned;
  throw new Failure(
    client.era === "modern" ? -32_602 : -32_002,
    `No server offers the resource ${shown.slice(0, 500)}.`,
    { uri: shown.slice(0, 500) },
  );
}

/** How long the other servers' lists are waited for when one server has the URI: another may have it too. */
const graceMs = 1_000;

async function askedOwner(shown: string, client: Client, signal: AbortSignal): Promise<Owned | undefined> {
  const reads = await client.endpoint.readUris(shown, client, signal);
  if (reads.length === 0) return undefined;
  const isThere = async (read: Promise<void>) => {
    await read;
    // Two servers that have it are an answer, too.
    const isKnown = await knownOwner(shown, client).then(Boolean, () => true);
    if (!isKnown) throw new Error("Not in the lists that are there");
  };
  const first = Promise.any(reads.map(isThere));
  await untilAborted(first, signal).catch(() => undefined);
  using grace = startDeadline(graceMs);
  await untilAborted(Promise.all(reads), AbortSignal.any([signal, grace.signal])).catch(() => undefined);
  return await knownOwner(shown, client);
}

async function knownOwner(shown: string, client: Client): Promise<Owned | undefined> {
  const { endpoint } = client;
  const table = await endpoint.uris(client);
  const links = endpoint.links(client);
  const marked = readShownUri(shown);
  const { server: named } = marked;
  if (named !== undefined) {
    const isItsOwn = candidates(marked.uri, table).includes(named) || links.get(marked.uri) === named;
    if (isItsOwn) return { server: named, uri: marked.uri };
  }
  // No other server answers for the one that was named. A URI may look like that by itself, but only if it is listed.
  const uri = shown;
  const given = links.get(uri);
  const found = named === undefined ? candidates(uri, table) : (table.owners.get(uri) ?? []);
  if (given !== undefined && (found.length === 0 || found.includes(given))) return { server: given, uri };
  const [server, other] = found;
  if (server !== undefined && other === undefined) return { server, uri };
  if (server === undefined) return undefined;
  const forms = found.map((one) => `${uri}#plugboard=${encodeURIComponent(one)}`);
  throw invalidParams(`Several servers offer this resource. Say which: ${forms.join(" or ")}.`, {
    uri,
    near: forms,
  });
}
