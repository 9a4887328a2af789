import { InputRequired, modernAsk, type Call } from "./call.ts";
import { Changes } from "./changes.ts";
import { describePrompt, prompts } from "./prompts.ts";
import { Questions } from "./questions.ts";
import { RequestStates } from "./request-state.ts";
import { readResource, resources, templates } from "./resources.ts";
import { Tasks } from "./tasks.ts";
import { describeTool, tools, type Tool } from "./tools.ts";
import {
  RpcFailure,
  fieldsOf,
  isFields,
  metaKey,
  missingCapability,
  tasksExtension,
  type Era,
  type Fields,
} from "./wire.ts";

const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const modernRevisions = ["2026-07-28"];
const levelsThatIncludeInfo = new Set<unknown>(["debug", "info"]);
const serverInfo = { name: "everything", version: "1.0.0" };
const cacheable = /\/list$|^resources\/read$|^server\/discover$/;

interface Request {
  id: unknown;
  method: string;
  params: Fields;
  meta: Fields;
  /** What the client declared, for this request or its connection. */
  capabilities: Fields;
  signal: AbortSignal;
}

type Method = (request: Request) => Fields | Promise<Fields>;

/** A server with everything that the conformance suite looks for, of one era, for one client. */
export class EverythingServer {
  readonly #era: Era;
  readonly #send: (message: Fields) => void;
  readonly #changes: Changes;
  readonly #questions: Questions;
  readonly #states = new RequestStates();
  readonly #tasks = new Tasks();
  readonly #running = new Map<unknown, AbortController>();
  #capabilities: Fields = {};
  #level = "debug";

  constructor(era: Era, send: (message: Fields) => void) {
    this.#era = era;
    this.#send = send;
    this.#changes = new Changes(era, send);
    this.#questions = new Questions(send);
  }

  async receive(message: Fields): Promise<void> {
    const { id, method } = message;
    const params = fieldsOf(message["params"]);
    if (typeof method !== "string") return this.#questions.answer(message);
    if (id === undefined) {
      if (method === "notifications/cancelled") this.#running.get(params["requestId"])?.abort();
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    const answer = await this.#answer({
      id,
      method,
      params,
      ...this.#client(params),
      signal: controller.signal,
    });
    this.#running.delete(id);
    if (!controller.signal.aborted) this.#send({ id, ...answer });
  }

  #client(params: Fields): Pick<Request, "meta" | "capabilities"> {
    const meta = fieldsOf(params["_meta"]);
    const declared = meta[metaKey("clientCapabilities")];
    return { meta, capabilities: this.#era === "legacy" ? this.#capabilities : fieldsOf(declared) };
  }

  async #answer(request: Request): Promise<Fields> {
    try {
      if (this.#era === "modern") checkEnvelope(request.meta);
      const method = this.#methods[request.method] ?? this.#methodsOf[this.#era][request.method];
      if (method === undefined) throw new RpcFailure(-32601, `Unknown method: ${request.method}`);
      return { result: this.#complete(request.method, await method(request)) };
    } catch (error) {
      return { error: error instanceof RpcFailure ? error : { code: -32603, message: String(error) } };
    }
  }

  /** Adds what every modern result has. */
  #complete(method: string, result: Fields): Fields {
    if (this.#era === "legacy") return result;
    return {
      resultType: "complete",
      ...(cacheable.test(method) && { ttlMs: 60_000, cacheScope: "private" }),
      ...result,
      _meta: { [metaKey("serverInfo")]: serverInfo },
    };
  }

  readonly #methods: Record<string, Method> = {
    "tools/list": () => ({ tools: Object.entries(this.#tools()).map(describeTool) }),
    "tools/call": (request) => {
      const tool = this.#tools()[String(request.params["name"])];
      if (tool === undefined) throw new RpcFailure(-32602, `Unknown tool: ${String(request.params["name"])}`);
      return this.#rounds(request, (call) => finish(tool.run(call)));
    },
    "prompts/list": () => ({
      prompts: [...Object.entries(prompts).map(describePrompt), ...this.#changes.dynamicPrompts()],
    }),
    "prompts/get": (request) => {
      const prompt = prompts[String(request.params["name"])];
      if (prompt === undefined)
        throw new RpcFailure(-32602, `Unknown prompt: ${String(request.params["name"])}`);
      return this.#rounds(request, async (call) => {
        const messages = (await prompt.get(call)).map((content) => ({ role: "user", content }));
        return { description: prompt.description, messages };
      });
    },
    "resources/list": () => ({ resources }),
    "resources/templates/list": () => ({ resourceTemplates: templates }),
    "resources/read": ({ params }) => ({ contents: [readResource(String(params["uri"]), this.#era)] }),
    "completion/complete": ({ params }) => {
      const typed = String(fieldsOf(params["argument"])["value"]);
      const values = ["paris", "park", "party", "testing"].filter((value) => value.startsWith(typed));
      return { completion: { values, total: values.length, hasMore: false } };
    },
  };

  readonly #methodsOf: Record<Era, Record<string, Method>> = {
    legacy: {
      initialize: ({ params }) => {
        this.#capabilities = fieldsOf(params["capabilities"]);
        const asked = String(params["protocolVersion"]);
        const protocolVersion = legacyRevisions.includes(asked) ? asked : legacyRevisions[0];
        return { protocolVersion, serverInfo, capabilities: { ...capabilities, tasks: taskCapabilities } };
      },
      ping: () => ({}),
      "logging/setLevel": ({ params }) => {
        this.#level = String(params["level"]);
        return {};
      },
      "resources/subscribe": ({ params }) => {
        this.#changes.watch(String(params["uri"]));
        return {};
      },
      "resources/unsubscribe": ({ params }) => {
        this.#changes.unwatch(String(params["uri"]));
        return {};
      },
      "tasks/get": ({ params }) => this.#tasks.describeLegacy(params),
      "tasks/list": () => this.#tasks.list(),
      "tasks/cancel": ({ params }) => {
        this.#tasks.cancel(params);
        return this.#tasks.describeLegacy(params);
      },
      "tasks/result": ({ params, capabilities: declared, signal }) =>
        this.#tasks.result(params, (questions) =>
          this.#questions.ask(questions, { can: (name) => isFields(declared[name]), signal }),
        ),
    },
    modern: {
      "server/discover": () => ({
        supportedVersions: modernRevisions,
        capabilities: { ...capabilities, extensions: { [tasksExtension]: {} } },
      }),
      "subscriptions/listen": ({ id, params, signal }) =>
        this.#changes.listen(id, fieldsOf(params["notifications"]), signal),
      "tasks/get": (request) => this.#tasks.get(withTasks(request).params),
      "tasks/update": (request) => this.#tasks.update(withTasks(request).params),
      "tasks/cancel": (request) => this.#tasks.cancel(withTasks(request).params),
    },
  };

  #tools(): Record<string, Tool> {
    return { ...tools, ...this.#changes.tools, ...this.#changes.dynamicTools() };
  }

  /** Runs something that may ask the client. A modern client then repeats its request, with the answers. */
  async #rounds(request: Request, run: (call: Call) => Promise<Fields>): Promise<Fields> {
    const subject = `${request.method} ${String(request.params["name"])}`;
    try {
      return await run(this.#call(request, subject));
    } catch (error) {
      if (!(error instanceof InputRequired)) throw error;
      const requestState = this.#states.seal(subject, error.answers);
      return { resultType: "input_required", inputRequests: error.questions, requestState };
    }
  }

  #call(request: Request, subject: string): Call {
    const { params, meta, capabilities: declared, signal } = request;
    const can: Call["can"] = (capability) => isFields(declared[capability]);
    const ask =
      this.#era === "modern"
        ? modernAsk(params["inputResponses"], this.#states.open(subject, params["requestState"]), can)
        : (((questions) => this.#questions.ask(questions, { can, signal })) as Call["ask"]);
    const call: Call = {
      args: fieldsOf(params["arguments"]),
      signal,
      can,
      ask,
      log: (data) => {
        const level = this.#era === "modern" ? meta[metaKey("logLevel")] : this.#level;
        if (!levelsThatIncludeInfo.has(level)) return;
        this.#send({
          method: "notifications/message",
          params: { level: "info", logger: "everything", data },
        });
      },
      progress: (progress, total) => {
        const { progressToken } = meta;
        if (progressToken === undefined) return;
        this.#send({ method: "notifications/progress", params: { progressToken, progress, total } });
      },
      later: async (work, { required = false } = {}) => {
        if (this.#era === "legacy") {
          if (isFields(params["task"]))
            return { task: this.#tasks.describeLegacy(this.#tasks.start(call, work, finish)) };
          if (required) throw new RpcFailure(-32601, "This tool has to be called as a task");
          return work(call);
        }
        if (knowsTasks(declared)) return this.#tasks.start(call, work, finish);
        if (required) throw missingCapability({ extensions: { [tasksExtension]: {} } });
        return work(call);
      },
    };
    return call;
  }
}

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true },
  completions: {},
  logging: {},
};

const taskCapabilities = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/** What a tool throws is its result, unless it is about the protocol. */
async function finish(work: Promise<Fields>): Promise<Fields> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RpcFailure || error instanceof InputRequired) throw error;
    return { content: [{ type: "text", text: (error as Error).message }], isError: true };
  }
}

const knowsTasks = (declared: Fields): boolean => isFields(fieldsOf(declared["extensions"])[tasksExtension]);

function withTasks(request: Request): Request {
  if (!knowsTasks(request.capabilities)) throw missingCapability({ extensions: { [tasksExtension]: {} } });
  return request;
}

function checkEnvelope(meta: Fields): void {
  const requested = meta[metaKey("protocolVersion")];
  if (typeof requested !== "string") throw new RpcFailure(-32602, "_meta has no protocolVersion");
  if (!modernRevisions.includes(requested)) {
    throw new RpcFailure(-32022, "Unsupported protocol version", { supported: modernRevisions, requested });
  }
  if (!isFields(meta[metaKey("clientCapabilities")])) {
    throw new RpcFailure(-32602, "_meta has no clientCapabilities");
  }
}
