import { Refusal, single } from "./refusal.ts";
import type { Asked, AuthState, Client } from "./state.ts";

/** What an authorization request of any kind asks for. */
export function askedBy(state: AuthState, client: Client, params: URLSearchParams): Asked {
  return { client, scopes: scopesOf(params, state.scopes), resource: resourceOf(state, params) };
}

/** The scopes asked for, all of them among those that can be had. */
export function scopesOf(params: URLSearchParams, available: string[]): string[] {
  const scopes = [...new Set((single(params, "scope") ?? "").split(" ").filter((scope) => scope !== ""))];
  const usual = ["openid", "offline_access"];
  const unknown = scopes.filter((scope) => !available.includes(scope) && !usual.includes(scope));
  if (unknown.length > 0) throw new Refusal("invalid_scope", `not available: ${unknown.join(" ")}`);
  return scopes;
}

/** RFC 8707: the one resource that the tokens will be for. */
export function resourceOf(state: AuthState, params: URLSearchParams): string | undefined {
  const mode = state.options.resourceIndicators ?? "checked";
  if (mode === "ignored") return undefined;
  const [resource, ...more] = params.getAll("resource");
  if (more.length > 0) throw new Refusal("invalid_target", "tokens are for one resource only");
  if (resource === undefined) {
    if (mode === "required") throw new Refusal("invalid_target", "resource is missing");
    return undefined;
  }
  const url = URL.parse(resource);
  if (url === null || resource.includes("#"))
    throw new Refusal("invalid_target", "resource is not an absolute URI");
  if (state.resources.size > 0 && !state.resources.has(resource)) {
    throw new Refusal("invalid_target", `resource ${resource} is not known`);
  }
  return resource;
}
