import { metaNames } from "../../host.ts";
import { compileSchema } from "../../index.ts";
import type { MetaTool } from "../../host.ts";
import type { CallOptions, SchemaTarget, ToolEntry, View } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { describedOutside } from "./outside.ts";

/** A tool as a model is shown it, whatever the SDK. */
export interface Definition {
  name: string;
  description: string;
  /** Compiled for the model's provider. */
  schema: Record<string, unknown>;
  /** What the server promises of the structured content. */
  outputSchema?: Record<string, unknown>;
  title?: string;
  annotations: Record<string, unknown>;
  /** Absent for tools of ours. */
  server?: string;
  /** True if somebody may be asked about a call, as the rules are now. */
  mayAsk: boolean;
  /** True if rules could ever want that. */
  canAsk: boolean;
}

/** A tool that the model is not shown, and why. */
export interface SetAside {
  id: string;
  because: string;
}

/** Makes definitions for one provider. */
export class Definitions {
  readonly #view: View;
  readonly #target: SchemaTarget;
  readonly #approval: CallOptions["approval"];
  readonly #untrusted = new Map<string, boolean>();

  constructor(view: View, target: SchemaTarget, approval: CallOptions["approval"]) {
    this.#view = view;
    this.#target = target;
    this.#approval = approval;
  }

  /** The definitions of the tools that can be shown, and the others. */
  async all(tools: readonly ToolEntry[]): Promise<{ definitions: Definition[]; setAside: SetAside[] }> {
    const asked = new Set(await this.#view.mayAsk(tools, { approval: this.#approval }));
    const definitions: Definition[] = [];
    const setAside: SetAside[] = [];
    for (const tool of tools) {
      const made = this.#of(tool, asked.has(tool));
      if ("because" in made) setAside.push(made);
      else definitions.push(made);
    }
    return { definitions, setAside };
  }

  #of(tool: ToolEntry, mayAsk: boolean): Definition | SetAside {
    const { id, server, title, annotations } = tool;
    const compiled = compileSchema(tool.inputSchema, this.#target);
    if (!compiled.ok) {
      const where = compiled.path === "" ? "its schema" : `its schema at ${compiled.path}`;
      return { id, because: `${where}: ${compiled.reason}` };
    }
    const said = (tool.description ?? title ?? "").toWellFormed();
    const description = this.isUntrusted(server) ? describedOutside(server, said) : said;
    return {
      name: id,
      description,
      schema: compiled.schema,
      annotations,
      server,
      mayAsk,
      canAsk: true,
      ...(isRecord(tool.raw["outputSchema"]) && { outputSchema: tool.raw["outputSchema"] }),
      ...(title && { title }),
    };
  }

  /** One of our three tools to find the others with. */
  ofMeta({ name, description, inputSchema, annotations = {} }: MetaTool): Definition {
    const calls = name === metaNames.call;
    return { name, description, schema: inputSchema, annotations, mayAsk: calls, canAsk: calls };
  }

  /** As it last was for a server that is not there any more; true for an unknown one, as nothing speaks for its words. */
  isUntrusted(server: string): boolean {
    try {
      const isUntrusted = this.#view.isUntrusted(server);
      this.#untrusted.set(server, isUntrusted);
      return isUntrusted;
    } catch {
      return this.#untrusted.get(server) ?? true;
    }
  }
}
