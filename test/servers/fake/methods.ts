import type { Exchange } from "./exchange.ts";
import { type Era, isFields, paramsOf, revisions, RpcError, serverInfo } from "./protocol.ts";
import type { Fields, Script } from "./script.ts";
import { callTool, toolDefinitions } from "./tools.ts";

type Method = (exchange: Exchange, params: Fields) => Fields | Promise<Fields>;

/** The result of a request, by the rules of its era; throws the error that is its answer. */
export async function resultOf(exchange: Exchange, era: Era): Promise<Fields> {
  const { script } = exchange.server;
  const method = String(exchange.incoming.message?.["method"]);
  const known = (era === "modern" ? modernOnly : legacyOnly)[method] ?? both[method];
  const capability = CAPABILITY[method.split("/")[0] ?? ""];
  if (known === undefined || (capability !== undefined && capabilities(script)[capability] === undefined)) {
    throw new RpcError(-32601, "Method not found", { status: era === "modern" ? 404 : 200 });
  }
  return known(exchange, paramsOf(exchange.incoming.message));
}

const CAPABILITY: Record<string, string> = {
  tools: "tools",
  resources: "resources",
  prompts: "prompts",
  completion: "completions",
  logging: "logging",
};

const capabilities = (script: Script): Fields =>
  script.capabilities ?? {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  };

const aboutItself = (script: Script): Fields => ({
  capabilities: capabilities(script),
  ...(script.instructions !== undefined && { instructions: script.instructions }),
});

const legacyOnly: Record<string, Method> = {
  initialize: ({ server: { script } }, params) => {
    const spoken = revisions(script, "legacy");
    const asked = String(params["protocolVersion"]);
    const protocolVersion = spoken.includes(asked) ? asked : spoken[0];
    return { protocolVersion, serverInfo: serverInfo(script), ...aboutItself(script) };
  },
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "resources/subscribe": ({ server, outlet }, { uri }) => {
    server.subscribed.add(`${outlet.scope} ${String(uri)}`);
    return {};
  },
  "resources/unsubscribe": ({ server, outlet }, { uri }) => {
    server.subscribed.delete(`${outlet.scope} ${String(uri)}`);
    return {};
  },
};

const modernOnly: Record<string, Method> = {
  "server/discover": ({ server: { script } }) => ({
    supportedVersions: revisions(script, "modern"),
    ...aboutItself(script),
  }),
};

const both: Record<string, Method> = {
  "tools/list": ({ server }, params) => page(server.script, "tools", toolDefinitions(server.script), params),
  "tools/call": callTool,
  "resources/list": ({ server }, params) =>
    page(server.script, "resources", resources(server.script), params),
  "resources/templates/list": ({ server }, params) =>
    page(server.script, "resourceTemplates", server.script.resourceTemplates ?? [template], params),
  "resources/read": ({ server }, { uri }) => {
    const known = resources(server.script).find((resource) => resource["uri"] === uri);
    if (known === undefined && !String(uri).startsWith("fake://item/")) {
      throw new RpcError(-32602, `Resource ${String(uri)} not found`, { data: { uri } });
    }
    const contents = { uri, mimeType: known?.["mimeType"] ?? "text/plain", text: `text of ${String(uri)}` };
    return { contents: [contents] };
  },
  "prompts/list": ({ server }, params) => page(server.script, "prompts", prompts(server.script), params),
  "prompts/get": ({ server }, { name, arguments: given }) => {
    const prompt = prompts(server.script).find((one) => one["name"] === name);
    if (prompt === undefined) throw new RpcError(-32602, `Prompt ${String(name)} not found`);
    const text = isFields(given) ? `${String(name)} ${JSON.stringify(given)}` : String(name);
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  },
  "completion/complete": (_exchange, { argument }) => {
    const typed = isFields(argument) && typeof argument["value"] === "string" ? argument["value"] : "";
    const values = ["amber", "amethyst", "beryl"].filter((value) => value.startsWith(typed));
    return { completion: { values, total: values.length, hasMore: false } };
  },
};

const resources = (script: Script): Fields[] =>
  script.resources ?? [{ uri: "fake://readme", name: "readme", mimeType: "text/plain" }];
const template = { uriTemplate: "fake://item/{name}", name: "item" };
const prompts = (script: Script): Fields[] =>
  script.prompts ?? [{ name: "greet", description: "Greets", arguments: [{ name: "who", required: false }] }];

function page(script: Script, key: string, items: Fields[], { cursor }: Fields): Fields {
  const size = script.pageSize ?? Math.max(1, items.length);
  const after = typeof cursor === "string" ? /^after-(\d+)$/.exec(cursor)?.[1] : undefined;
  const start = cursor === undefined ? 0 : Number(after ?? Number.NaN);
  if (Number.isNaN(start)) throw new RpcError(-32602, `Invalid cursor ${JSON.stringify(cursor)}`);
  const end = start + size;
  return { [key]: items.slice(start, end), ...(end < items.length && { nextCursor: `after-${end}` }) };
}
