import type { Rule } from "./fields.ts";
import { setField } from "./draft.ts";
import { text } from "./fields.ts";
import type { FlatConfig } from "./flat-config.ts";
import { parseTemplate } from "../template.ts";

/** How different clients spell the three transports. */
const spellings: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  "streamable-http": "http",
  streamable_http: "http",
  streamableHttp: "http",
  "http-stream": "http",
  remote: "http",
  sse: "sse",
};

/** The field that names the transport; `words` are the names to write for this client. */
export function transport(words: Readonly<Record<"stdio" | "http" | "sse", string>>): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "string") return `\`${field}\` is not a string`;
      const type = Object.hasOwn(spellings, value) ? spellings[value] : undefined;
      if (type === undefined) return `the transport in \`${field}\` is not stdio, http or sse`;
      setField(draft, "type", type, field);
      return undefined;
    },
    write: (draft) => {
      const type = draft.config.get("type");
      if (type !== "stdio" && type !== "http" && type !== "sse") return undefined;
      // If the client's word means another transport to us, it is written and the difference is reported as lost.
      if (spellings[words[type]] === type) draft.config.delete("type");
      return words[type];
    },
  };
}

export const usualWords = { stdio: "stdio", http: "http", sse: "sse" } as const;

/** A URL whose field name implies the transport, unless the entry names one. */
export function urlOf(type: "http" | "sse"): Rule {
  const address = text("url");
  return {
    read: (value, field, draft) => {
      if (!draft.config.has("url") && !draft.config.has("type")) draft.config.set("type", type);
      return address.read(value, field, draft);
    },
    write: (draft, field) => {
      if (draft.config.get("type") !== type) return undefined;
      draft.config.delete("type");
      return address.write?.(draft, field);
    },
  };
}

/**
 * Determines the transport of an entry: the one it names, or else stdio if it has a command, or else what the client
 * assumes for a URL. Our entries name the transport of remote servers only.
 */
export function chooseTransport(
  config: FlatConfig,
  assumed: "http" | "sse",
): { problem: string } | { surplus: "command" | "url" | undefined } {
  const hasCommand = config.has("command");
  const hasUrl = config.has("url");
  if (!hasCommand && !hasUrl) return { problem: "it has neither a command nor a URL" };
  const type = config.get("type") ?? (hasCommand ? "stdio" : assumed);
  if (type === "stdio" && !hasCommand) return { problem: "its type is stdio but it has no command" };
  if (type !== "stdio" && !hasUrl) return { problem: "its type is remote but it has no URL" };
  const surplus = hasCommand && hasUrl ? (type === "stdio" ? "url" : "command") : undefined;
  if (surplus) config.delete(surplus);
  if (type === "stdio") config.delete("type");
  else config.set("type", type);
  if (type !== "stdio" && !isAddress(config.get("url")))
    return { problem: "its URL is neither http nor https" };
  return { surplus };
}

/** A URL with references cannot be checked before they are expanded, so it passes. */
function isAddress(url: unknown): boolean {
  if (typeof url !== "string") return false;
  const isKnown = parseTemplate(url).every((part) => typeof part === "string");
  return !isKnown || /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}
