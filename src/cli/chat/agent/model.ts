import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import type { Endpoint } from "../endpoint.ts";

/** The model behind an endpoint. Everything is given, so that the SDK looks up no variables of its own. */
export function languageModel({ provider, url, model, key }: Endpoint): LanguageModel {
  const common = { baseURL: url, fetch: fetchHere };
  if (provider === "anthropic") return createAnthropic({ ...common, apiKey: key ?? "" })(model);
  const settings = {
    ...common,
    name: "openai",
    includeUsage: true,
    ...(key !== undefined && { apiKey: key }),
  };
  return createOpenAICompatible(settings)(model);
}

/** A redirect would take the key to another place. */
const fetchHere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" });
