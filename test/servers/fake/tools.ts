import { setTimeout as pause } from "node:timers/promises";
import { createAsk, InputRequired } from "./ask.ts";
import type { Exchange } from "./exchange.ts";
import { metaOf, paramsOf, RpcError } from "./protocol.ts";
import type { Fields, Script } from "./script.ts";

interface Tool {
  description: string;
  properties?: Fields;
  annotations?: Fields;
  outputSchema?: Fields;
  run: (args: Fields, exchange: Exchange) => Fields | Promise<Fields>;
}

export function toolDefinitions(script: Script): Fields[] {
  return (
    script.tools ??
    Object.entries(builtIn).map(([name, { description, properties, annotations, outputSchema }]) => ({
      name,
      description,
      inputSchema: { type: "object", ...(properties && { properties }) },
      ...(outputSchema && { outputSchema }),
      ...(annotations && { annotations }),
    }))
  );
}

export async function callTool(exchange: Exchange, params: Fields): Promise<Fields> {
  const name = String(params["name"]);
  const args = paramsOf({ params: params["arguments"] });
  const known = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
  const listed = exchange.server.script.tools?.some((tool) => tool["name"] === name) === true;
  if (known === undefined && !listed) throw new RpcError(-32602, `Tool ${name} not found`);
  try {
    return await (known ?? echo).run(args, exchange);
  } catch (error) {
    if (error instanceof InputRequired) return error.result;
    throw error;
  }
}

const text = (value: string): Fields => ({ content: [{ type: "text", text: value }] });
const data = (value: Fields): Fields => ({ ...text(JSON.stringify(value)), structuredContent: value });
const number = { type: "number" };
const readOnly = { readOnlyHint: true };

const echo: Tool = { description: "Returns its arguments", annotations: readOnly, run: (args) => data(args) };

const builtIn: Record<string, Tool> = {
  echo,
  add: {
    description: "Adds a and b",
    properties: { a: number, b: number },
    annotations: readOnly,
    outputSchema: { type: "object", properties: { sum: number }, required: ["sum"] },
    run: ({ a, b }) => data({ sum: Number(a) + Number(b) }),
  },
  sleep: {
    description: "Answers after ms milliseconds, unless it is cancelled",
    properties: { ms: number },
    run: async ({ ms }, { signal }) => {
      await pause(Number(ms), undefined, { signal });
      return text(`slept ${Number(ms)} ms`);
    },
  },
  fail: {
    description: "Answers with isError",
    run: ({ message }) => ({
      ...text(typeof message === "string" ? message : "failed on purpose"),
      isError: true,
    }),
  },
  elicit: {
    description: "Asks the user: a form, or a URL to open; `rounds` times",
    properties: {
      message: { type: "string" },
      schema: { type: "object" },
      url: { type: "string" },
      rounds: number,
    },
    run: async ({ message = "What is your name?", schema, url, rounds = 1 }, exchange) => {
      const properties = { name: { type: "string" } };
      const form = { message, requestedSchema: schema ?? { type: "object", properties, required: ["name"] } };
      const ask = createAsk(exchange);
      const answers: Fields[] = [];
      for (let round = 1; round <= Number(rounds); round++) {
        const link = { mode: "url", message, url, elicitationId: `elicitation-${round}` };
        answers.push(await ask(`round-${round}`, "elicitation/create", url === undefined ? form : link));
      }
      return data({ answers });
    },
  },
  sample: {
    description: "Asks the client's model",
    properties: { prompt: { type: "string" } },
    run: async ({ prompt = "Hello" }, exchange) => {
      const messages = [{ role: "user", content: { type: "text", text: prompt } }];
      return data(
        await createAsk(exchange)("sample", "sampling/createMessage", { messages, maxTokens: 100 }),
      );
    },
  },
  roots: {
    description: "Asks for the client's roots",
    run: async (_args, exchange) => data(await createAsk(exchange)("roots", "roots/list", undefined)),
  },
  progress: {
    description: "Reports `steps` steps, everyMs apart, before it answers",
    properties: { steps: number, everyMs: number },
    run: async ({ steps = 3, everyMs = 0 }, exchange) => {
      const progressToken = metaOf(exchange.incoming.message)["progressToken"];
      for (let progress = 1; progress <= Number(steps); progress++) {
        await pause(Number(everyMs), undefined, { signal: exchange.signal });
        const params = { progressToken, progress, total: steps, message: `step ${progress}` };
        if (progressToken !== undefined) {
          await exchange.say({ jsonrpc: "2.0", method: "notifications/progress", params });
        }
      }
      return text(`${Number(steps)} steps`);
    },
  },
  big: {
    description: "Returns that many bytes of text",
    properties: { bytes: number },
    run: ({ bytes }) => text("x".repeat(Number(bytes))),
  },
  crash: {
    description: "Takes the server down in the middle of the call",
    properties: { code: number },
    run: async ({ code = 1 }, { outlet }) => {
      outlet.exit(Number(code));
      return new Promise<never>(() => {});
    },
  },
  count: {
    description: "How many tools/call there were, this one left out",
    run: (_args, { server: { calls } }) => {
      const tools = Object.fromEntries([...calls].filter(([name]) => name !== "count"));
      return data({ total: Object.values(tools).reduce((sum, one) => sum + one, 0), tools });
    },
  },
  cancelled: {
    description: "The ids of the requests that were cancelled",
    run: (_args, { server }) => data({ ids: server.cancelled }),
  },
  change: {
    description: "Tells that `what` changed: tools, prompts, resources, or the resource of a URI",
    properties: { what: { type: "string" } },
    run: async ({ what = "tools" }, { server }) => {
      const list = ["tools", "prompts", "resources"].includes(String(what));
      const updated = { method: "notifications/resources/updated", params: { uri: what } };
      await server.broadcast(list ? { method: `notifications/${String(what)}/list_changed` } : updated);
      return text("told");
    },
  },
  process: {
    description: "Describes the process that the server runs in",
    run: () => data({ pid: process.pid, cwd: process.cwd(), argv: process.argv, env: { ...process.env } }),
  },
};
