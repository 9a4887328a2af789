import type { FetchLike } from "@modelcontextprotocol/client";
import { documentLimits, guardFetch } from "../auth/oauth/guarded-fetch.ts";
import { allowsLocal } from "../lib/safe-url.ts";
import type { Environment } from "../lib/folders.ts";
import { readNetwork } from "./network-files.ts";
import type { HttpTarget } from "./target.ts";

/** Runs `work` with a guarded fetch for logins over the server's own network settings, then closes its sockets. */
export async function withAuthFetch<T>(
  server: string,
  target: Pick<HttpTarget, "url" | "headers" | "network" | "credentials">,
  env: Environment,
  work: (fetch: FetchLike) => Promise<T>,
): Promise<T> {
  const { url, credentials } = target;
  const oauth = credentials.kind === "login" ? credentials.oauth : {};
  const localAllowed = allowsLocal(url, oauth.issuer, oauth.identityProvider?.issuer);
  return withHttpFetch(server, target, env, (fetch) =>
    work(guardFetch(server, { own: url, localAllowed }, fetch)),
  );
}

/** The same without the guard, for code of the host program, which may contact any address. */
export async function withHttpFetch<T>(
  server: string,
  { url, headers, network }: Pick<HttpTarget, "url" | "headers" | "network">,
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
  try {
    return await work(createHttpFetch(client));
  } finally {
    await client.close();
  }
}
