import { version } from "../../host.ts";
import { isRecord } from "../../lib/record.ts";

type Fields = Record<string, unknown>;
type Answer = { result: Fields } | { error: { code: number; message: string } };

/** What the hub gives a server in this process: the far end of the connection. */
interface Link {
  onmessage?: ((message: never) => void) | undefined;
  send(message: never): Promise<void>;
}

/**
 * A small server in this process, for a first look without configuration: three tools, one of which asks a question, a
 * resource and a prompt. It is of the modern era, so it keeps nothing between requests.
 */
export function createDemoServer(): { connect(link: Link): Promise<void> } {
  return {
    connect: async (link) => {
      const onmessage = (message: unknown) => {
        if (!isRecord(message) || message["id"] === undefined || typeof message["method"] !== "string")
          return;
        const { id, method, params } = message;
        const answer = respond(method, isRecord(params) ? params : {});
        void link.send({ jsonrpc: "2.0", id, ...answer } as never).catch(() => undefined);
      };
      Object.assign(link, { onmessage });
    },
  };
}

function respond(method: string, params: Fields): Answer {
  switch (method) {
    case "server/discover":
      return complete({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, resources: {}, prompts: {} },
        instructions: "A demonstration of Plugboard. Add servers of your own with `plugboard add`.",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "plugboard-demo", version } },
      });
    case "tools/list":
      return listed({ tools });
    case "tools/call":
      return call(params);
    case "resources/list":
      return listed({ resources: [about] });
    case "resources/templates/list":
      return listed({ resourceTemplates: [] });
    case "resources/read":
      if (params["uri"] !== about.uri) return failure(-32_602, "There is no such resource.");
      return listed({ contents: [{ uri: about.uri, mimeType: about.mimeType, text: aboutText }] });
    case "prompts/list":
      return listed({ prompts: [introduce] });
    case "prompts/get":
      return prompt(params);
    default:
      return failure(-32_601, "Method not found");
  }
}

const readOnly = { readOnlyHint: true, openWorldHint: false };

const tools = [
  {
    name: "greet",
    title: "Greet",
    description: "Greets somebody by name.",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string", description: "Whom to greet" } },
      required: ["name"],
    },
    annotations: readOnly,
  },
  {
    name: "count_words",
    title: "Count words",
    description: "Counts the words and characters of a text.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    outputSchema: {
      type: "object",
      properties: { words: { type: "integer" }, characters: { type: "integer" } },
      required: ["words", "characters"],
    },
    annotations: readOnly,
  },
  {
    name: "ask_me",
    title: "Ask me",
    description: "Asks the person at the client a question, and tells what they answered.",
    inputSchema: { type: "object", properties: {} },
    annotations: readOnly,
  },
];

const about = { uri: "demo://about", name: "about", title: "About Plugboard", mimeType: "text/markdown" };
const aboutText = `# Plugboard

All MCP servers as one: configure them once, use them from every client.

- \`plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .\` adds a server
- \`plugboard import\` takes over what other clients on this machine have
- this demonstration goes away as soon as a server is configured
`;

const introduce = {
  name: "introduce",
  title: "Introduce the demo",
  description: "Has the model try the demo's tools.",
  arguments: [{ name: "name", description: "Your name", required: false }],
};

function call({ name, arguments: given, inputResponses, _meta: meta }: Fields): Answer {
  const args = isRecord(given) ? given : {};
  switch (name) {
    case "greet":
      return said(`Hello, ${textOf(args["name"])}!`);
    case "count_words": {
      const text = textOf(args["text"]);
      const counted = { words: text.split(/\s+/).filter(Boolean).length, characters: text.length };
      return complete({
        content: [{ type: "text", text: JSON.stringify(counted) }],
        structuredContent: counted,
      });
    }
    case "ask_me":
      return ask(inputResponses, meta);
    default:
      return failure(-32_602, "There is no such tool.");
  }
}

function ask(inputResponses: unknown, meta: unknown): Answer {
  const answer = isRecord(inputResponses) ? inputResponses["colour"] : undefined;
  if (isRecord(answer)) {
    const content = isRecord(answer["content"]) ? answer["content"] : {};
    return said(
      answer["action"] === "accept" ? `You like ${textOf(content["colour"])}.` : "You did not want to say.",
    );
  }
  const capabilities = isRecord(meta) ? meta["io.modelcontextprotocol/clientCapabilities"] : undefined;
  if (!isRecord(capabilities) || !isRecord(capabilities["elicitation"]))
    return said("This client cannot show questions of servers, so nobody was asked.");
  const colour = { type: "string", title: "Colour", enum: ["red", "green", "blue"] };
  const requestedSchema = { type: "object", properties: { colour }, required: ["colour"] };
  const params = { mode: "form", message: "Which colour do you like best?", requestedSchema };
  const inputRequests = { colour: { method: "elicitation/create", params } };
  return { result: { resultType: "input_required", inputRequests, requestState: "asked" } };
}

function prompt({ name, arguments: given }: Fields): Answer {
  if (name !== introduce.name) return failure(-32_602, "There is no such prompt.");
  const who = isRecord(given) ? given["name"] : undefined;
  const text = `Greet ${typeof who === "string" ? who : "me"} with the demo's tools, then ask me a question with ask_me.`;
  return complete({ messages: [{ role: "user", content: { type: "text", text } }] });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function said(text: string): Answer {
  return complete({ content: [{ type: "text", text }] });
}

/** Nothing of it changes while it runs. */
function listed(result: Fields): Answer {
  return complete({ ...result, ttlMs: 3_600_000, cacheScope: "public" });
}

function complete(result: Fields): Answer {
  return { result: { resultType: "complete", ...result } };
}

function failure(code: number, message: string): Answer {
  return { error: { code, message } };
}
