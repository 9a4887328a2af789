import { resolve } from "node:path";
import { parsePromptCommand } from "../../host.ts";
import { PlugboardError, isPlugboardError, mediaParts } from "../../index.ts";
import type { ModelPart, ModelResult } from "../../adapters/ai-sdk.ts";
import type { ChatSettings } from "../../config.ts";
import type { ErrorSummary } from "../../host.ts";
import type { ErrorCode, Hub } from "../../index.ts";
import { matchesAny } from "../../lib/glob.ts";
import { toolWord } from "../arguments/call-line.ts";
import { saveFile, shownPath } from "../terminal/saved-files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ShownResult } from "./agent/turn.ts";
import { newConversation } from "./conversations.ts";
import type { Conversation, Conversations } from "./conversations.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EmitChat, Usage } from "./events.ts";
import { isPromptLine } from "./prompt-line.ts";

const defaultSteps = 50;
const defaultTimeoutMs = 120_000;

export interface SessionOptions {
  hub: Hub;
  endpoint: Endpoint;
  settings: ChatSettings;
  conversations: Conversations;
  /** An earlier one to go on with. */
  conversation?: Conversation | undefined;
  terminal: Terminal;
  /** Where files from tools are saved. */
  folder: string;
  /** The patterns of --allow. */
  allow: readonly string[];
}

/** One conversation with the model about the hub's servers. */
export class ChatSession {
  conversation: Conversation;
  readonly usage: Usage = { inputTokens: 0, outputTokens: 0 };
  readonly #options: SessionOptions;
  /** Tools that the person knows to be set aside, patterns that match none, and hints. */
  readonly #mentioned = new Set<string>();
  /** What the person knows to be missing in what is kept. */
  #missing = "";
  #names = new Map<string, string>();

  constructor(options: SessionOptions) {
    this.#options = options;
    const { terminal, endpoint } = options;
    this.conversation = options.conversation ?? newConversation(terminal.cwd, endpoint.model);
  }

  get endpoint(): Endpoint {
    return this.#options.endpoint;
  }

  clear(): void {
    this.conversation = newConversation(this.#options.terminal.cwd, this.endpoint.model);
  }

  /** A tool as people write it, whatever the model calls it. */
  nameOf(tool: string): string {
    return this.#names.get(tool) ?? tool;
  }

  /**
   * Says something to the model and lets it act. Emits everything that happens, with an `end` at last, and returns the
   * error that stopped it. The conversation is kept, whatever happens.
   */
  async say(text: string, signal: AbortSignal, emit: EmitChat): Promise<PlugboardError | undefined> {
    const { conversation } = this;
    const usage: Usage = { inputTokens: 0, outputTokens: 0 };
    let steps = 0;
    let error: PlugboardError | undefined;
    const stop = this.#options.hub.on("call-end", (ended) => this.#advise(ended.error, emit));
    try {
      steps = await this.#turn(text, usage, signal, emit);
    } catch (thrown) {
      const isCancelled = signal.aborted || (isPlugboardError(thrown) && thrown.endsTurn);
      if (!isCancelled && !isPlugboardError(thrown)) throw thrown;
      error = isCancelled
        ? new PlugboardError("call-cancelled", "The turn was cancelled.", { hint: "Say something else." })
        : (thrown as PlugboardError);
    } finally {
      stop();
      this.usage.inputTokens += usage.inputTokens;
      this.usage.outputTokens += usage.outputTokens;
      conversation.at = Date.now();
      conversation.model = this.endpoint.model;
      if (conversation.messages.length > 0) await this.#save(conversation, emit);
    }
    const outcome = error ? (error.code === "call-cancelled" ? "cancelled" : "failed") : "done";
    emit({ type: "end", steps, usage, outcome, ...(error && { error: summary(error) }) });
    return error;
  }

  /** Models do not read the hints of errors, so the person gets them, each once. */
  #advise(error: ErrorSummary | undefined, emit: EmitChat): void {
    const { code, hint } = error ?? {};
    if (code === undefined || !hint || mistakesOfModels.has(code) || this.#mentioned.has(hint)) return;
    this.#mentioned.add(hint);
    emit({ type: "notice", message: hint });
  }

  async #turn(text: string, usage: Usage, signal: AbortSignal, emit: EmitChat): Promise<number> {
    const { hub, settings, endpoint, allow } = this.#options;
    const agent = await import("./agent/agent.ts");
    const said = isPromptLine(text)
      ? await this.#prompt(text, signal)
      : await agent.userMessages(hub, text, signal, emit);
    const { messages } = this.conversation;
    messages.push(...said);
    const offered = await agent.offerTools(hub, endpoint.provider, signal);
    this.#names = new Map(
      (await hub.tools({ wait: false })).map((tool) => [tool.id, toolWord(tool)] as const),
    );
    const names = [...this.#names].flat();
    for (const pattern of allow)
      if (!this.#mentioned.has(pattern) && !names.some((name) => matchesAny([pattern], name))) {
        this.#mentioned.add(pattern);
        emit({ type: "notice", message: `--allow ${pattern} matches no tool.` });
      }
    for (const { id, because } of offered.setAside.filter(({ id }) => !this.#mentioned.has(id))) {
      this.#mentioned.add(id);
      emit({ type: "notice", message: `${this.nameOf(id)} is not offered to the model: ${because}` });
    }
    const { maxSteps = defaultSteps, timeoutMs = defaultTimeoutMs, maxOutputTokens, system } = settings;
    const instructions = [agent.basics, system, offered.instructions].filter(Boolean).join("\n\n");
    const model = agent.languageModel(endpoint);
    return agent.runTurn(
      {
        endpoint,
        model,
        messages,
        instructions,
        tools: () => offered.tools(),
        maxSteps,
        timeoutMs,
        maxOutputTokens,
        signal,
        emit,
        show: (output) => this.#show(output, emit),
      },
      usage,
    );
  }

  /** `/mcp__server__prompt value key=value` */
  async #prompt(line: string, signal: AbortSignal) {
    const { hub } = this.#options;
    const [word = ""] = line.split(/\s/, 1);
    const prompt = await hub.findPrompt(word.slice(1), { signal });
    const { args } = parsePromptCommand(line, prompt.arguments);
    const { promptMessages } = await import("./agent/agent.ts");
    return promptMessages(hub, prompt.id, args, signal);
  }

  /** Saves the media of a result, and gives its text to people. */
  async #show(output: unknown, emit: EmitChat): Promise<ShownResult> {
    const { terminal, folder } = this.#options;
    const { parts, isError } = output as ModelResult;
    const content = parts.flatMap((part) => (part.type === "text" ? [] : [mediaContent(part)]));
    const files: string[] = [];
    for (const file of mediaParts({ content })) {
      const bytes = file.bytes();
      try {
        if (!bytes) throw new Error(`${file.name} was not saved: the server sent invalid base64`);
        const path = await saveFile(resolve(terminal.cwd, folder), file.name, bytes);
        files.push(shownPath(path, terminal.cwd));
      } catch (error) {
        emit({ type: "notice", message: (error as Error).message });
      }
    }
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    return { isError, text, files };
  }

  async #save(conversation: Conversation, emit: EmitChat): Promise<void> {
    try {
      const { movedTo, isCut, isShort } = await this.#options.conversations.save(conversation);
      if (movedTo !== undefined)
        emit({
          type: "notice",
          message: `Somebody else went on with this conversation, so yours is kept as ${movedTo} from now on.`,
        });
      const missing = [...(isCut ? ["its longest texts"] : []), ...(isShort ? ["its first turns"] : [])];
      const words = missing.join(" and ");
      if (words !== "" && words !== this.#missing)
        emit({
          type: "notice",
          message: `The conversation is too long to be kept whole: without ${words}, it can be resumed later.`,
        });
      this.#missing = words;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      emit({ type: "notice", message: `The conversation could not be saved: ${why}` });
    }
  }
}

/** The model corrects these by itself, and the person who cancelled a call needs no hint. */
const mistakesOfModels: ReadonlySet<ErrorCode> = new Set([
  "arguments-invalid",
  "call-cancelled",
  "tool-unknown",
  "usage-invalid",
]);

function summary({ code, message, hint, data }: PlugboardError): ErrorSummary {
  return { code, message, hint, ...(data && { data }) };
}

function mediaContent({ type, data, mimeType, uri = "" }: Exclude<ModelPart, { type: "text" }>) {
  return type === "file"
    ? { type: "resource", resource: { uri, blob: data, mimeType } }
    : { type, data, mimeType };
}
