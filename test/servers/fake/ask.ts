import type { Exchange } from "./exchange.ts";
import { CAPABILITIES_KEY, isFields, metaOf, paramsOf, RpcError } from "./protocol.ts";
import type { Fields } from "./script.ts";

type Ask = (key: string, method: string, params: Fields | undefined) => Promise<Fields>;

/**
 * Questions to the client in the way of the era. Legacy: a request on the stream of the call. Modern: the call ends
 * with `input_required` and is made again with the answers; those of earlier rounds travel in `requestState`.
 */
export function createAsk(exchange: Exchange): Ask {
  return exchange.era() === "modern" ? modernAsk(exchange) : legacyAsk(exchange);
}

/** Ends a call for now; the caller answers with it as a result. */
export class InputRequired extends Error {
  readonly result: Fields;

  constructor(inputRequests: Fields, requestState: string) {
    super("input required");
    this.result = { resultType: "input_required", inputRequests, requestState };
  }
}

function legacyAsk(exchange: Exchange): Ask {
  return async (_key, method, params) => {
    const answer = await exchange.ask(method, params);
    const { result, error } = answer;
    if (isFields(result)) return result;
    throw new RpcError(-32603, `The client refused ${method}: ${JSON.stringify(error)}`);
  };
}

const CAPABILITY: Record<string, string> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

function modernAsk(exchange: Exchange): Ask {
  const { message } = exchange.incoming;
  const { name, inputResponses, requestState } = paramsOf(message);
  const answers: Fields = {
    ...(typeof requestState === "string" && readState(String(name), requestState)),
    ...(isFields(inputResponses) && inputResponses),
  };
  return async (key, method, params) => {
    const answer = answers[key];
    if (isFields(answer)) return answer;
    const capability = CAPABILITY[method] ?? method;
    const declared = metaOf(message)[CAPABILITIES_KEY];
    if (!isFields(declared) || declared[capability] === undefined) {
      const missing = {
        requiredCapabilities: { [capability]: capability === "elicitation" ? { form: {} } : {} },
      };
      throw new RpcError(-32021, `Missing required client capabilities: ${capability}`, {
        data: missing,
        status: 400,
      });
    }
    const question = { method, ...(params !== undefined && { params }) };
    throw new InputRequired({ [key]: question }, writeState(String(name), answers));
  };
}

/** Anything but the exact string that was handed out is refused. */
function readState(tool: string, state: string): Fields {
  const [payload = "", seal] = state.split(".");
  if (seal !== sealOf(tool, payload)) throw new RpcError(-32602, "Invalid requestState");
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Fields;
}

function writeState(tool: string, answers: Fields): string {
  const payload = Buffer.from(JSON.stringify(answers)).toString("base64url");
  return `${payload}.${sealOf(tool, payload)}`;
}

/** Keeps mistakes out, not attackers. */
function sealOf(tool: string, payload: string): string {
  let hash = 0;
  for (const character of `${tool} ${payload}`)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash.toString(36);
}
