import { expandTexts } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { ChatSettings, Environment, Workspace } from "../../config.ts";

/** The model that a conversation is held with. */
export interface Endpoint {
  provider: Provider;
  /** Without a slash at its end. */
  url: string;
  model: string;
  key?: string;
  /** Why a key that is known is not sent. */
  keyNote?: string;
}

export type Provider = "openai" | "anthropic";

/** What was typed. A key is never typed: it would show up in the shell's history and in the list of processes. */
export interface EndpointFlags {
  url?: string;
  model?: string;
  provider?: Provider;
}

const homes = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com/v1" } as const;

/** Flags come first, then the variables of chat, the configuration, and the variables of the provider. */
export async function chooseEndpoint(
  flags: EndpointFlags,
  settings: ChatSettings,
  workspace: Pick<Workspace, "env" | "secrets" | "folders">,
): Promise<Endpoint> {
  const { env, secrets, folders } = workspace;
  const sources = { env, secrets, home: folders.home };
  const { url, model, key } = settings;
  const written = await expandTexts(
    { ...(url !== undefined && { url }), ...(model !== undefined && { model }) },
    "chat",
    sources,
  );
  const config = { ...settings, ...written };
  const { keyFrom, ...endpoint } = endpointOf(flags, config, env);
  if (keyFrom !== "config" || key === undefined) return endpoint;
  return { ...endpoint, ...(await expandTexts({ key }, "chat", sources)) };
}

/** Pure. A key belongs to the address that it was set with, and is sent nowhere else. */
export function endpointOf(
  flags: EndpointFlags,
  config: ChatSettings,
  env: Environment,
): Endpoint & { keyFrom?: "config" | "env" } {
  const typed = {
    url: flags.url ?? filled(env["PLUGBOARD_CHAT_URL"]),
    model: flags.model ?? filled(env["PLUGBOARD_CHAT_MODEL"]),
    provider: flags.provider ?? providerIn(env),
  };
  const model = typed.model ?? config.model;
  if (model === undefined)
    throw new PlugboardError(
      "model-missing",
      "No model is set. Use --model, PLUGBOARD_CHAT_MODEL or `chat.model` in your configuration.",
      { hint: "For example: `plugboard chat --model gpt-5`, with the key in OPENAI_API_KEY." },
    );
  const provider =
    typed.provider ?? (typed.url === undefined ? config.provider : undefined) ?? guess(typed, config, model);
  const isConfigured = providerOf(config, model) === provider;
  const known = wellKnown(provider, env);
  const configUrl = isConfigured ? (config.url ?? (config.key ? homes[provider] : undefined)) : undefined;
  const url = checkedUrl(typed.url ?? configUrl ?? known.url ?? homes[provider], provider);
  const own = filled(env["PLUGBOARD_CHAT_KEY"]);
  if (own !== undefined) return { provider, url, model, key: own, keyFrom: "env" };
  const configHome = checkedUrl(config.url ?? homes[providerOf(config, model)], provider);
  if (config.key !== undefined && isSameOrigin(configHome, url))
    return { provider, url, model, keyFrom: "config" };
  const knownHome = checkedUrl(known.url ?? homes[provider], provider);
  if (known.key !== undefined && isSameOrigin(knownHome, url))
    return { provider, url, model, key: known.key, keyFrom: "env" };
  const [unused] = [
    ...(config.key === undefined ? [] : [{ name: "chat.key", home: configHome }]),
    ...(known.key === undefined ? [] : [{ name: known.name, home: knownHome }]),
  ];
  if (!unused) return { provider, url, model };
  const keyNote = `No key was sent: the one in ${unused.name} belongs to ${hostOf(unused.home)}. Set PLUGBOARD_CHAT_KEY to use one here.`;
  return { provider, url, model, keyNote };
}

function guess(typed: { url?: string | undefined }, config: ChatSettings, model: string): Provider {
  return providerOf({ url: typed.url ?? config.url }, model);
}

function providerOf(
  { provider, url }: { provider?: Provider | undefined; url?: string | undefined },
  model: string,
): Provider {
  if (provider !== undefined) return provider;
  if (url !== undefined)
    return /(^|\.)anthropic\.com$/.test(URL.parse(url)?.hostname ?? "") ? "anthropic" : "openai";
  return model.startsWith("claude") ? "anthropic" : "openai";
}

function providerIn(env: Environment): Provider | undefined {
  const named = filled(env["PLUGBOARD_CHAT_PROVIDER"]);
  if (named === undefined || named === "openai" || named === "anthropic") return named;
  throw new PlugboardError("usage-invalid", "PLUGBOARD_CHAT_PROVIDER must be openai or anthropic.");
}

/** The variables that the providers' own tools use. */
function wellKnown(provider: Provider, env: Environment) {
  const prefix = provider === "openai" ? "OPENAI" : "ANTHROPIC";
  const name = `${prefix}_API_KEY`;
  return { url: filled(env[`${prefix}_BASE_URL`]), key: filled(env[name]), name };
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

/** Some tools write Anthropic's address without `/v1`. */
function checkedUrl(text: string, provider: Provider): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new PlugboardError("usage-invalid", "The model's URL must be an http or https URL.", {
      hint: "For example: http://127.0.0.1:11434/v1",
    });
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new PlugboardError("usage-invalid", "The model's URL must not contain credentials or a query.", {
      hint: "Set the key with `chat.key` or PLUGBOARD_CHAT_KEY.",
    });
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${provider === "anthropic" && path === "" ? "/v1" : path}`;
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin;
}

export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

/** True if a key that is sent there can be read on the way. */
export function sendsKeyInClear({ url, key }: Endpoint): boolean {
  const { protocol, hostname } = new URL(url);
  const isHere = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return key !== undefined && protocol === "http:" && !isHere;
}
