import { says } from "./content.ts";
import type { Tool } from "./tools.ts";
import { fieldsOf, metaKey, type Era, type Fields } from "./wire.ts";

/** What changes while the server runs, and which clients are told of it. */
export class Changes {
  readonly #era: Era;
  readonly #send: (message: Fields) => void;
  /** The filters of open `subscriptions/listen` requests. */
  readonly #listeners = new Map<unknown, Fields>();
  readonly #watched = new Set<string>();
  #hasTool = false;
  #hasPrompt = false;

  constructor(era: Era, send: (message: Fields) => void) {
    this.#era = era;
    this.#send = send;
  }

  readonly tools: Record<string, Tool> = {
    test_trigger_tool_change: {
      description: "Adds or removes a tool",
      run: async () => {
        this.#hasTool = !this.#hasTool;
        this.#tell("notifications/tools/list_changed", (filter) => filter["toolsListChanged"] === true);
        return says("The list of tools changed.");
      },
    },
    test_trigger_prompt_change: {
      description: "Adds or removes a prompt",
      run: async () => {
        this.#hasPrompt = !this.#hasPrompt;
        this.#tell("notifications/prompts/list_changed", (filter) => filter["promptsListChanged"] === true);
        return says("The list of prompts changed.");
      },
    },
    test_trigger_resource_update: {
      description: "Reports an update of the watched resource",
      run: async () => {
        const uri = "test://watched-resource";
        const isWatched = ({ resourceSubscriptions: uris }: Fields) =>
          this.#watched.has(uri) || (Array.isArray(uris) && uris.includes(uri));
        this.#tell("notifications/resources/updated", isWatched, { uri });
        return says("The resource was updated.");
      },
    },
  };

  /** The tool and the prompt that exist only sometimes. */
  dynamicTools(): Record<string, Tool> {
    const tool: Tool = { description: "Was added later", run: async () => says("I am new here.") };
    return this.#hasTool ? { test_dynamic_tool: tool } : {};
  }

  dynamicPrompts(): Fields[] {
    return this.#hasPrompt ? [{ name: "test_dynamic_prompt", description: "Was added later" }] : [];
  }

  watch(uri: string): void {
    this.#watched.add(uri);
  }

  unwatch(uri: string): void {
    this.#watched.delete(uri);
  }

  /** Serves `subscriptions/listen` until the client cancels it. */
  listen(id: unknown, notifications: Fields, signal: AbortSignal): Promise<never> {
    this.#listeners.set(id, notifications);
    signal.addEventListener("abort", () => this.#listeners.delete(id));
    this.#tag(id, "notifications/subscriptions/acknowledged", { notifications });
    return new Promise(() => {});
  }

  #tell(method: string, wants: (filter: Fields) => boolean, params: Fields = {}): void {
    if (this.#era === "modern") {
      for (const [id, filter] of this.#listeners) if (wants(filter)) this.#tag(id, method, params);
      return;
    }
    const isForAll = method.endsWith("/list_changed");
    if (isForAll || wants({})) this.#send({ method, ...(Object.keys(params).length > 0 && { params }) });
  }

  #tag(id: unknown, method: string, params: Fields): void {
    const _meta = { ...fieldsOf(params["_meta"]), [metaKey("subscriptionId")]: id };
    this.#send({ method, params: { ...params, _meta } });
  }
}
