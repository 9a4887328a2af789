import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import type { Endpoint } from "../endpoint.ts";
import { notStreamed, redirected, reportedError, saidIn, unusableKey } from "./failure.ts";

/** The model behind an endpoint. Everything is given, so that the SDK looks up no variables of its own. */
export function languageModel(endpoint: Endpoint): LanguageModel {
  const { provider, url, model, key } = endpoint;
  // The error of fetch would repeat the key.
  if (key !== undefined && !/^[\t\x20-\x7e\x80-\xff]*$/.test(key)) throw unusableKey(endpoint);
  const common = { baseURL: url, fetch: fetchFrom(endpoint) };
  if (provider === "anthropic") return createAnthropic({ ...common, apiKey: key ?? "" })(model);
  const settings = {
    ...common,
    name: "openai",
    includeUsage: true,
    ...(key !== undefined && { apiKey: key }),
  };
  return createOpenAICompatible(settings)(model);
}

/** Fetches a stream. A redirect would take the key to another place, and the SDK says nothing useful about other bodies. */
function fetchFrom(endpoint: Endpoint): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw redirected(response.headers.get("location"), endpoint);
    }
    const [type = ""] = (response.headers.get("content-type") ?? "").split(";", 1);
    const isOdd = response.ok && /^(?:text\/html|application\/json)$/i.test(type.trim());
    return isOdd ? assertStream(response, type.trim().toLowerCase(), endpoint) : response;
  };
}

/** Some endpoints stream under the wrong type. */
async function assertStream(response: Response, type: string, endpoint: Endpoint): Promise<Response> {
  const start = await startOf(response.clone());
  if (/^\s*(?::|(?:data|event|id|retry):)/.test(start)) return response;
  await response.body?.cancel();
  const said = type === "application/json" ? saidIn(parsed(start)) : undefined;
  throw said === undefined ? notStreamed(type, endpoint) : reportedError(said, endpoint);
}

const mostRead = 64_000;

/** As much as may hold an error; of a stream only its first piece. */
async function startOf({ body }: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  while (text.length < mostRead && !/^\s*[^\s{[<]/.test(text)) {
    const next = await reader?.read();
    if (!next || next.done) break;
    text += decoder.decode(next.value as Uint8Array, { stream: true });
  }
  // Settles only when the other half of the clone ends too.
  void reader?.cancel().catch(() => undefined);
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
