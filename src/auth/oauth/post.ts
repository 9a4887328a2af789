import type { FetchLike } from "@modelcontextprotocol/client";
import type { clientSignature } from "./client-assertion.ts";
import type { OAuthClient } from "./record.ts";

/** Posts a form to an endpoint of an authorization server, authenticated as the client. */
export async function postForm(
  fetch: FetchLike,
  address: string,
  form: Record<string, string>,
  {
    client,
    methods = [],
    sign,
  }: {
    client: OAuthClient;
    methods?: readonly string[] | undefined;
    sign?: ReturnType<typeof clientSignature>;
  },
): Promise<{ ok: boolean; status: number; text: string }> {
  const { selectClientAuthMethod } = await import("@modelcontextprotocol/client");
  const { client_id, client_secret, token_endpoint_auth_method: registered } = client;
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  };
  const body = new URLSearchParams(form);
  const known = {
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    ...(registered !== undefined && { token_endpoint_auth_method: registered }),
  };
  const method = selectClientAuthMethod(known, [...methods]);
  if (sign) {
    sign(headers, body);
  } else if (method === "client_secret_basic" && client_secret !== undefined) {
    headers["authorization"] = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`;
  } else {
    body.set("client_id", client_id);
    if (method === "client_secret_post" && client_secret !== undefined)
      body.set("client_secret", client_secret);
  }
  const response = await fetch(address, { method: "POST", headers, body: body.toString() });
  return { ok: response.ok, status: response.status, text: await response.text() };
}
