import type { FetchLike } from "@modelcontextprotocol/client";
import { documentLimits, guardFetch } from "../auth/oauth/guarded-fetch.ts";
import { allowsLocal } from "../auth/oauth/url.ts";
import type { Environment } from "../lib/folders.ts";
import { readNetwork } from "./network-files.ts";
import type { HttpTarget } from "./target.ts";

/** Lends a fetch for logging in: the server's own way out, guarded. Its sockets end with the work. */
export async function withAuthFetch<T>(
  server: string,
  { url, headers, network, credentials }: Pick<HttpTarget, "url" | "headers" | "network" | "credentials">,
  env: Environment,
  work: (fetch: FetchLike) => Promise<T>,
): Promise<T> {
  const { HttpClient } = await import("./transports/http/client.ts");
  const { createHttpFetch } = await import("./transports/http/fetch.ts");
  const client = new HttpClient({
    server,
    url,
    headers,
    network: await readNetwork(server, network),
    env,
    limits: documentLimits,
  });
  const oauth = credentials.kind === "login" ? credentials.oauth : {};
  const localAllowed = allowsLocal(url, oauth.issuer, oauth.identityProvider?.issuer);
  try {
    return await work(guardFetch(server, { own: url, localAllowed }, createHttpFetch(client)));
  } finally {
    await client.close();
  }
}
