import type { CallOptions, CallResult } from "../../calls/call-tool.ts";
import { assertAvailable } from "../../calls/clearance.ts";
import type { ToolEntry } from "../../catalog/tool-entry.ts";
import { PlugboardError, isPlugboardError } from "../../errors.ts";
import type { View } from "../view.ts";
import { describedTools, mostDescribed } from "./described-tools.ts";
import { innerCall } from "./inner-call.ts";
import { foundLines } from "./found-tools.ts";
import type { NamedTool } from "./found-tools.ts";
import { isMetaName, metaNames, metaTools } from "./meta-definitions.ts";
import type { MetaName, MetaTool } from "./meta-definitions.ts";
import { listServices } from "./services.ts";
import type { Service } from "./services.ts";
import { failureText, mistake, schemaText, textResult } from "./texts.ts";

/** What models call tools by. The default is their ids. */
export interface MetaNaming {
  /** The name that a model is shown. */
  nameOf(tool: ToolEntry): string;
  /** The tool that a model means. Throws `tool-unknown`, with the names of similar ones in `data.near`. */
  find(name: string, signal?: AbortSignal): Promise<ToolEntry>;
}

export interface MetaToolsContext {
  view: View;
  naming: MetaNaming;
  /** What there is to be found. */
  services(): Promise<Service[]>;
}

/** Options of a call through one of the tools. */
export interface MetaCallOptions extends CallOptions {
  /** `false` searches what is known, and asks no server. */
  wait?: boolean | undefined;
}

const usualLimit = 8;
const largestLimit = 50;
const longestQuery = 2_000;

/** Tools to search, describe and call a view's tools, for models that cannot be shown all of them. */
export class MetaTools {
  readonly #context: MetaToolsContext;

  constructor(context: MetaToolsContext) {
    this.#context = context;
  }

  /** The three tools as a model is shown them. */
  async definitions(): Promise<MetaTool[]> {
    return metaTools(listServices(await this.#context.services()));
  }

  /** A call of one of the three by a model. What a model can do something about is a result, not an exception. */
  async call(
    name: MetaName,
    args: Record<string, unknown> = {},
    options: MetaCallOptions = {},
  ): Promise<CallResult> {
    if (name === metaNames.search) return this.search(args, options);
    if (name === metaNames.describe) return this.describe(args, options);
    let tool: ToolEntry | undefined;
    try {
      const inner = innerCall(args);
      tool = await this.find(inner.name, options.signal);
      const { wait: _, approval = "auto", ...own } = options;
      return await this.#context.view.callTool(tool.id, inner.arguments, { ...own, approval });
    } catch (error) {
      return this.failure(error, tool);
    }
  }

  /** Finds tools: the answer to `search_tools`. */
  async search(
    args: Record<string, unknown>,
    { signal, wait = true }: MetaCallOptions = {},
  ): Promise<CallResult> {
    const { query, server: asked } = args;
    if (typeof query !== "string")
      return mistake(metaNames.search, "`query` must be a text.", await this.definitions());
    const { view, naming } = this.#context;
    const servers = (await view.listStates()).map((state) => state.server);
    const isNamed = typeof asked === "string" && asked !== "";
    const server = isNamed ? sameName(asked, servers) : undefined;
    if (isNamed && server === undefined)
      return textResult(
        `There is no service ${JSON.stringify(asked.slice(0, 100))}. ${await this.#services()}`,
        true,
      );
    const wanted = { limit: limitIn(args), server, signal, wait };
    try {
      const found = await view.search(query.slice(0, longestQuery), wanted);
      const lines = foundLines(found.map(({ tool }) => ({ name: naming.nameOf(tool), tool })));
      if (lines.length === 0)
        lines.push(`No tool was found. Ask for one capability in other words. ${await this.#services()}`);
      return textResult([...lines, ...(await this.#unread())].join("\n"));
    } catch (error) {
      if (!isPlugboardError(error, "usage-invalid")) throw error;
      return mistake(metaNames.search, failureText(error), await this.definitions());
    }
  }

  /** Describes tools: the answer to `describe_tools`. */
  async describe(args: Record<string, unknown>, { signal }: MetaCallOptions = {}): Promise<CallResult> {
    const { names: given } = args;
    const names = typeof given === "string" ? [given] : Array.isArray(given) ? given : [];
    const wanted = [...new Set(names.filter((name) => typeof name === "string" && name !== ""))] as string[];
    if (wanted.length === 0)
      return mistake(metaNames.describe, "`names` must be a list of tool names.", await this.definitions());
    const tools: NamedTool[] = [];
    const problems: string[] = [];
    for (const name of wanted.slice(0, mostDescribed)) {
      try {
        const tool = await this.find(name, signal);
        tools.push({ name: this.#context.naming.nameOf(tool), tool });
      } catch (error) {
        if (!isPlugboardError(error) || isPlugboardError(error, "call-cancelled")) throw error;
        problems.push(failureText(error));
      }
    }
    const { lines, left } = describedTools(tools);
    const late = [...left, ...wanted.slice(mostDescribed)];
    if (late.length > 0) problems.push(`Too much at once; ask again for: ${late.slice(0, 20).join(", ")}.`);
    return textResult([...lines, ...problems].join("\n"), lines.length === 0);
  }

  /** What a model is told instead of an error that it can act on. Throws the others. */
  failure(error: unknown, tool?: ToolEntry): CallResult {
    if (!isPlugboardError(error) || !actedUpon.has(error.code)) throw error;
    const schema = tool && error.code === "arguments-invalid" ? `\n${this.schema(tool)}` : "";
    return textResult(`${failureText(error)}${schema}`, true);
  }

  /** The schema of a tool, for a model that got its arguments wrong. */
  schema(tool: ToolEntry): string {
    return schemaText(this.#context.naming.nameOf(tool), tool);
  }

  /** The tool that a model means. Throws `tool-unknown` with similar names, `tool-hidden` or `lock-mismatch`. */
  async find(name: string, signal?: AbortSignal): Promise<ToolEntry> {
    if (isMetaName(name))
      throw new PlugboardError("tool-unknown", `${name} is called directly, not through ${metaNames.call}.`, {
        hint: "",
      });
    const tool = await this.#context.naming.find(name, signal).catch(async (error: unknown) => {
      throw isPlugboardError(error, "tool-unknown") ? await this.#withNear(name, error) : error;
    });
    assertAvailable(tool);
    return tool;
  }

  /** A name that a model made up says what it looks for. */
  async #withNear(name: string, error: PlugboardError): Promise<PlugboardError> {
    if (error.data?.["near"] !== undefined) return error;
    const { view, naming } = this.#context;
    const words = name.slice(0, 200).replaceAll(/[^\p{L}\p{N}]+/gu, " ");
    const found = await view.search(words, { limit: 3, wait: false }).catch(() => []);
    const near = found.map(({ tool }) => naming.nameOf(tool));
    return near.length === 0 ? error : error.with({ data: { ...error.data, near } });
  }

  /** A search that could not see everything says so: what is missing should not look as if it did not exist. */
  async #unread(): Promise<string[]> {
    const states = await this.#context.view.listStates();
    const unread = states.filter(({ at }) => at === undefined).map(({ server }) => server);
    if (unread.length === 0) return [];
    return [`Not searched, because their tools are not known yet: ${unread.slice(0, 10).join(", ")}.`];
  }

  async #services(): Promise<string> {
    const services = listServices(await this.#context.services());
    return services === "" ? "There are no services." : `Services: ${services}`;
  }
}

/** What a model can do something about, if only by doing something else. */
const actedUpon: ReadonlySet<string> = new Set([
  "arguments-invalid",
  "tool-unknown",
  "tool-hidden",
  "lock-mismatch",
  "approval-denied",
]);

function sameName(asked: string, names: readonly string[]): string | undefined {
  const lower = asked.toLowerCase();
  return names.find((name) => name === asked) ?? names.find((name) => name.toLowerCase() === lower);
}

function limitIn({ limit }: Record<string, unknown>): number {
  const wanted = typeof limit === "string" || typeof limit === "number" ? Number(limit) : usualLimit;
  return Number.isFinite(wanted) ? Math.min(Math.max(Math.floor(wanted), 1), largestLimit) : usualLimit;
}
