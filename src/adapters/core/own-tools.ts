import { PlugboardError } from "../../index.ts";
import { asSentence } from "../../lib/sentence.ts";
import { parseArguments } from "./arguments.ts";
import { boundedWords, unexpectedText } from "./failure.ts";
import type { AgentOptions, CallContext } from "./options.ts";
import { failed } from "./parts.ts";
import type { ModelResult } from "./parts.ts";
import { endsTurn } from "./turn.ts";

/** A tool of the program itself, for SDKs whose tools do not run by themselves. */
export interface OwnTool<Shape> {
  /** As the SDK wants it among its tools. */
  tool: Shape;
  /** Runs a call. The model gets a text as it is, and anything else as JSON. What it throws is a failure for the model. */
  run(
    args: Record<string, unknown>,
    call: { callId?: string | undefined; signal?: AbortSignal | undefined },
  ): unknown;
}

/** How the program's own tools are run, by their names. */
export type OwnRuns = ReadonlyMap<string, OwnTool<unknown>["run"]>;

export function ownRuns<Shape>(own: readonly OwnTool<Shape>[], nameOf: (tool: Shape) => string): OwnRuns {
  const runs = new Map(own.map(({ tool, run }) => [nameOf(tool), run] as const));
  if (runs.size < own.length)
    throw new PlugboardError("usage-invalid", "Two of your own tools have the same name.", {
      hint: "Give each another name.",
    });
  return runs;
}

/** Throws if a tool of the program has a name that a model already knows. */
export function assertFree(own: Iterable<string>, taken: (name: string) => boolean): void {
  for (const name of own)
    if (taken(name))
      throw new PlugboardError("usage-invalid", `Your own tool ${name} has the name of another tool.`, {
        tool: name,
        hint: "Give it another name.",
      });
}

/** A call of a program's own tool by a model. */
export async function callOwn(
  name: string,
  given: unknown,
  run: OwnTool<unknown>["run"],
  { callId, signal }: CallContext,
  { errors }: AgentOptions,
): Promise<ModelResult> {
  const args = parseArguments(name, given);
  try {
    const said = await run(args, { callId, signal });
    const text = typeof said === "string" ? said : (JSON.stringify(said) as string | undefined);
    return {
      parts: [{ type: "text", text: (text ?? "(The result is empty.)").toWellFormed() }],
      isError: false,
    };
  } catch (error) {
    if (errors === "throw" || endsTurn(error)) throw error;
    return failed(error instanceof Error ? asSentence(boundedWords(error.message)) : unexpectedText(error));
  }
}
