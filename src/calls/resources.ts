import { PlugboardError } from "../errors.ts";
import { issuesInWords } from "../lib/issue-words.ts";
import { joinArgv } from "../lib/argv.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";
import { withInputs } from "./input-required.ts";
import type { Inputs } from "./input-required.ts";

/** Sends a request to one server. */
export type AskServer = (method: string, params: Record<string, unknown>) => Promise<JsonRpcAnswer>;

/** The contents of a resource, as the server sent them. */
export interface ResourceContents {
  contents: Record<string, unknown>[];
  [key: string]: unknown;
}

/** Reads a resource from its server with `resources/read`; never fetches the URI itself. */
export async function readResource(server: string, uri: string, inputs: Inputs): Promise<ResourceContents> {
  const result = await resultOf(server, ["resources", "resource", uri], inputs, { uri });
  if (!Array.isArray(result["contents"]))
    throw new PlugboardError("protocol-error", `"${server}" sent a result without contents.`, { server });
  return result as ResourceContents;
}

/** The messages of a filled-in prompt, as the server sent them. */
export interface PromptMessages {
  description?: string;
  messages: Record<string, unknown>[];
  [key: string]: unknown;
}

/** Gets a prompt with `prompts/get`. */
export async function getPrompt(
  server: string,
  name: string,
  args: Record<string, string>,
  inputs: Inputs,
): Promise<PromptMessages> {
  const params = { name, ...(Object.keys(args).length > 0 && { arguments: args }) };
  const result = await resultOf(server, ["prompts", "prompt", name], inputs, params);
  if (!Array.isArray(result["messages"]))
    throw new PlugboardError("protocol-error", `"${server}" sent a result without messages.`, { server });
  return result as PromptMessages;
}

export type CompletionTarget = { prompt: string } | { template: string };

/** Suggests values for an argument; none if the server does not support completion. */
export async function complete(
  target: CompletionTarget,
  argument: { name: string; value: string },
  known: Record<string, string>,
  ask: AskServer,
): Promise<string[]> {
  const ref =
    "prompt" in target
      ? { type: "ref/prompt", name: target.prompt }
      : { type: "ref/resource", uri: target.template };
  const params = { ref, argument, ...(Object.keys(known).length > 0 && { context: { arguments: known } }) };
  const answer = await ask("completion/complete", params);
  if ("error" in answer) return [];
  const { completion } = answer.result as { completion?: { values?: unknown } };
  return Array.isArray(completion?.values)
    ? completion.values.filter((value) => typeof value === "string")
    : [];
}

const methodNotFound = -32_601;

async function resultOf(
  server: string,
  [offered, kind, name]: ["resources", "resource", string] | ["prompts", "prompt", string],
  inputs: Inputs,
  params: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const answer = await withInputs(params, inputs);
  if ("result" in answer) return answer.result;
  const { code, message } = answer.error;
  if (code === methodNotFound)
    throw new PlugboardError("server-error", `"${server}" offers no ${offered}.`, {
      server,
      data: { rpcCode: code },
      hint: `\`${joinArgv(["plugboard", "status", server])}\` shows what it offers.`,
    });
  // The official SDK writes the code into the message, too.
  const said = issuesInWords(message)
    .replace(/^MCP error -?\d+: /, "")
    .replace(/\.$/, "");
  // Some servers put a credential into their URIs, and errors are logged.
  const what = `the ${kind} ${inputs.redact?.(name)?.slice(0, 200) ?? ""}`.trimEnd();
  throw new PlugboardError("server-error", `"${server}" did not return ${what}: ${said} (${code}).`, {
    server,
    data: { rpcCode: code },
    hint: `Run \`${joinArgv(["plugboard", offered, server])}\` to see what it offers.`,
  });
}
