import type { FetchLike } from "@modelcontextprotocol/client";
import { isRecord } from "../../lib/record.ts";
import type { OAuthConfig } from "./client.ts";
import { authFailed, formFault, operatorHint, shown } from "./errors.ts";

/** The metadata of a protected server (RFC 9728). */
export interface ResourceMetadata {
  resource: string;
  servers: string[];
  scopes: string[];
  /** True if it accepts only tokens that are bound to a key. */
  dpop: boolean;
}

const place = "/.well-known/oauth-protected-resource";

/** The resource to request tokens for: the configured one, `usual`, or undefined to leave it out. */
export function chosenResource(
  configured: OAuthConfig["resource"],
  usual: string | undefined,
): string | undefined {
  return configured === false ? undefined : (configured ?? usual);
}

interface ResourceSettings {
  server: string;
  url: URL;
  /** `oauth.resource`: metadata for exactly this is accepted too. */
  resource?: OAuthConfig["resource"];
  fetch: FetchLike;
}

/**
 * Reads the document that the challenge names, or else the well-known ones. Returns undefined if there is none; a
 * document that is invalid is an error.
 */
export async function readResourceMetadata(
  settings: ResourceSettings,
  named: URL | undefined,
): Promise<ResourceMetadata | undefined> {
  const { server, url, fetch } = settings;
  const path = url.pathname.replace(/\/$/, "");
  const known = [new URL(`${place}${path}${url.search}`, url), new URL(place, url)];
  for (const address of named ? [named] : known) {
    const response = await fetch(address, { headers: { accept: "application/json" } });
    const text = await response.text();
    if (response.ok) return parse(settings, text);
    if (response.status >= 500 || (response.status >= 300 && response.status < 400)) {
      const how = response.status < 400 ? ", a redirect that was not followed," : "";
      const message = `The login metadata of "${server}" cannot be read (HTTP ${response.status}${how} at ${address.origin}${address.pathname}).`;
      throw authFailed(server, message, { data: { status: response.status }, hint: operatorHint });
    }
  }
  return undefined;
}

function parse({ server, url, resource: expected }: ResourceSettings, text: string): ResourceMetadata {
  const invalid = (what: string) =>
    authFailed(server, `The login metadata of "${server}" ${what}.`, {
      data: { reason: "resource-metadata" },
      hint: operatorHint,
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(formFault(error));
  }
  if (!isRecord(value)) throw invalid("is not a JSON object");
  const { resource } = value;
  if (typeof resource !== "string") throw invalid("has no valid resource");
  if (!covers(resource, url) && resource !== expected) {
    const message = `The login metadata of "${server}" is for ${shown(resource)} (resource), not for ${url.origin}${url.pathname}.`;
    throw authFailed(server, message, {
      data: { reason: "resource" },
      hint: "Check the `url` of the server; Plugboard does not request a token for another server. If its operator confirms that name, set `oauth.resource` to exactly that.",
    });
  }
  return {
    resource,
    servers: texts(value["authorization_servers"]),
    scopes: texts(value["scopes_supported"]),
    dpop: value["dpop_bound_access_tokens_required"] === true,
  };
}

/**
 * True for the same origin and the same path or a parent of it. Parents are allowed because a document at the root
 * names the origin, as in the conformance suite; hosts with several tenants have a document for each.
 */
function covers(resource: string, url: URL): boolean {
  const named = URL.parse(resource);
  if (named?.origin !== url.origin || named.hash !== "") return false;
  const path = (one: URL) => (one.pathname.endsWith("/") ? one.pathname : `${one.pathname}/`);
  return path(url).startsWith(path(named));
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
