/**
 * The conformance suite starts this program for each scenario. It does what the scenario expects through the hub,
 * whatever revision the server supports. The suite appends its server's URL and sets the scenario in the environment.
 */
import { refused } from "./exceptions.ts";
import { createHub } from "../../src/index.ts";
import type { ServerConfig } from "../../src/index.ts";

const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const url = process.argv.at(-1) ?? "";

const facts = JSON.parse(context) as Record<string, string>;
const refusal = refused[scenario];
/** Whether the person of this scenario confirms that the login moved to another authorization server. */
const mayMove = scenario === "auth/authorization-server-migration";
try {
  await run();
  if (refusal) throw new Error(`Expected a refusal with ${refusal.source}.`);
} catch (error) {
  if (!refusal?.test((error as Error).message)) throw error;
}
console.log("finished");

async function run(): Promise<void> {
  await using hub = await createHub(
    { servers: { peer: { url, oauth: oauthFor() } } },
    {
      interact: {
        elicit: async () => ({ action: "accept" }),
        sample: async () => ({ role: "assistant", content: { type: "text", text: "yes" }, model: "none" }),
        roots: async () => [],
        logIn: async () => ({ openUrl: agree, acceptIssuer: () => mayMove }),
      },
    },
  );
  await hub.connect("peer");
  let tools = await hub.tools();
  if (tools.length === 0 && scenario.startsWith("auth/")) {
    // The login expired between two requests, so connect again.
    await hub.connect("peer");
    tools = await hub.tools();
  }
  const call = (tool: string, args: Record<string, unknown> = {}) => hub.callTool(`peer.${tool}`, args);
  switch (scenario) {
    case "tools_call":
      await call("add_numbers", { a: 5, b: 3 });
      break;
    case "elicitation-sep1034-client-defaults":
      await call("test_client_elicitation_defaults");
      break;
    case "sse-retry":
      await call("test_reconnection");
      break;
    case "sep-2322-client-request-state":
      for (const tool of tools) await call(tool.name);
      break;
    case "http-standard-headers":
      for (const tool of tools) await call(tool.name);
      for (const { raw } of await hub.resources()) await hub.readResource("peer", String(raw["uri"]));
      for (const { id } of await hub.commands()) await hub.getPrompt(id);
      break;
    case "http-invalid-tool-headers":
      for (const tool of tools) await call(tool.name, sampleArguments(tool.inputSchema));
      break;
    case "http-custom-headers":
      for (const { name, arguments: args } of toolCalls()) await call(name, args);
      break;
    case "json-schema-2020-12-preservation": {
      const subject = tools.find(({ name }) => name === "json_schema_2020_12_tool");
      await call("json_schema_echo", { schema: subject?.inputSchema });
      break;
    }
    default:
      // The other scenarios check connecting and listing; those about logins also expect a call.
      if (scenario.startsWith("auth/")) for (const tool of tools) await call(tool.name);
  }
}

/** Plays the person who consents: opens the page and follows redirects back to our callback. */
async function agree(page: URL): Promise<void> {
  let address = page.href;
  for (let step = 0; step < 5; step++) {
    const response = await fetch(address, { redirect: "manual" });
    await response.text();
    const next = response.headers.get("location");
    if (next === null) return;
    address = new URL(next, address).href;
  }
}

/** What a user would configure, given the scenario's context. */
function oauthFor(): NonNullable<ServerConfig["oauth"]> {
  const { client_id: clientId, client_secret: clientSecret } = facts;
  const client = { ...(clientId && { clientId }), ...(clientSecret && { clientSecret }) };
  switch (scenario) {
    case "auth/basic-cimd":
      return { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
    case "auth/client-credentials-basic":
      return { ...client, grant: "client-credentials" };
    case "auth/client-credentials-jwt":
      return { ...client, grant: "client-credentials", privateKey: facts["private_key_pem"] };
    case "auth/wif-jwt-bearer":
      return { ...client, grant: "jwt-bearer", assertion: facts["valid_jwt"] };
    case "auth/cross-app-access-complete-flow":
    case "auth/enterprise-managed-authorization": {
      const { idp_issuer: issuer = "", idp_client_id: id = "", idp_id_token: assertion } = facts;
      return { ...client, grant: "cross-app", assertion, identityProvider: { issuer, clientId: id } };
    }
    default:
      return client;
  }
}

function toolCalls(): { name: string; arguments: Record<string, unknown> }[] {
  const { toolCalls: calls = [] } = JSON.parse(context) as { toolCalls?: ReturnType<typeof toolCalls> };
  return calls;
}

/** A value of the right type for each parameter. */
function sampleArguments({ properties = {} }: Record<string, unknown>): Record<string, unknown> {
  const samples: Record<string, unknown> = { string: "text", number: 1, integer: 1, boolean: true };
  const types = Object.entries(properties as Record<string, { type?: string }>);
  return Object.fromEntries(types.map(([name, { type = "string" }]) => [name, samples[type] ?? null]));
}
