import type { Catalog } from "../catalog/catalog.ts";
import { pinProblem } from "../catalog/pin-problem.ts";
import type { ServerPins } from "../config/lock/pins.ts";
import { PlugboardError } from "../errors.ts";
import { isRecord } from "../lib/record.ts";
import type { Route } from "../servers/route.ts";
import type { JsonRpcAnswer } from "../servers/rpc/messages.ts";

/** Takes out of an answer what the lock keeps back. */
export type PinnedAnswer = (answer: JsonRpcAnswer) => JsonRpcAnswer;

type Asked = [route: Route, method: string, params: Record<string, unknown>, signal: AbortSignal | undefined];

/** Requests that would show or use definitions past the catalog, where the lock is applied. */
export function pinnedRequest(
  all: ReadonlyMap<string, ServerPins> | undefined,
  catalog: Catalog,
  [route, method, params, signal]: Asked,
): Promise<PinnedAnswer | undefined> | undefined {
  const { server, use } = route;
  const pins = all?.get(server);
  if (!pins) return undefined;
  const listing = listed.get(method);
  if (listing !== undefined) return Promise.reject(refusedList(server, method, listing));
  if (method === "server/discover" || method === "initialize")
    return Promise.resolve((answer) => withoutInstructions(answer, pins));
  const target = targetOf(method, params);
  return target && catalog.assertPinned(server, ...target, { use }, signal).then(() => undefined);
}

const listed: ReadonlyMap<string, string> = new Map([
  ["tools/list", "tools()"],
  ["prompts/list", "prompts()"],
  ["resources/templates/list", "resourceTemplates()"],
]);

function refusedList(server: string, method: string, instead: string): PlugboardError {
  const message = `\`request\` does not pass ${method} on to "${server}", because its definitions are pinned.`;
  const hint = `Use \`${instead}\`, which shows what the lock file allows.`;
  return new PlugboardError("usage-invalid", message, { server, hint });
}

/** The prompt or template that a request uses. */
function targetOf(
  method: string,
  { name, ref }: Record<string, unknown>,
): ["prompts" | "resourceTemplates", string] | undefined {
  if (method === "prompts/get") return ["prompts", String(name)];
  if (method !== "completion/complete" || !isRecord(ref)) return undefined;
  return ref["type"] === "ref/prompt"
    ? ["prompts", String(ref["name"])]
    : ["resourceTemplates", String(ref["uri"])];
}

function withoutInstructions(answer: JsonRpcAnswer, pins: ServerPins): JsonRpcAnswer {
  if (!("result" in answer)) return answer;
  const { instructions, ...rest } = answer.result;
  if (instructions === undefined || !pinProblem(pins, "instructions", "", instructions)) return answer;
  return { ...answer, result: rest };
}
