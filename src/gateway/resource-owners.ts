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
 * one that names a server which does not have it.
 */
export async function ownerOf(shown: string, client: Client): Promise<Owned> {
  const { endpoint, era } = client;
  const only = endpoint.onlyServer();
  if (only !== undefined) return { server: only, uri: shown };
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
  if (server === undefined)
    throw new Failure(
      era === "modern" ? -32_602 : -32_002,
      `No server offers the resource ${shown.slice(0, 500)}.`,
      { uri: shown.slice(0, 500) },
    );
  const forms = found.map((one) => `${uri}#plugboard=${encodeURIComponent(one)}`);
  throw invalidParams(`Several servers offer this resource. Say which: ${forms.join(" or ")}.`, {
    uri,
    near: forms,
  });
}
