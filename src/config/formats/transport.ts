import type { Rule } from "./fields.ts";
import { settle } from "./draft.ts";
import { text } from "./fields.ts";
import type { Homes } from "./homes.ts";
import { parseTemplate } from "../template.ts";

/** The spellings of the three transports that are seen across clients. */
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

/** The field that names the transport, with the words this client uses when we write it. */
export function transport(words: Readonly<Record<"stdio" | "http" | "sse", string>>): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "string") return `\`${field}\` is not a text`;
      const type = Object.hasOwn(spellings, value) ? spellings[value] : undefined;
      if (type === undefined) return `the transport in \`${field}\` is not one of stdio, http and sse`;
      settle(draft, "type", type, field);
      return undefined;
    },
    write: (draft) => {
      const type = draft.homes.get("type");
      if (type !== "stdio" && type !== "http" && type !== "sse") return undefined;
      // A word that means another transport to us is written, and the difference is reported as lost.
      if (spellings[words[type]] === type) draft.homes.delete("type");
      return words[type];
    },
  };
}

export const usualWords = { stdio: "stdio", http: "http", sse: "sse" } as const;

/** An address whose field name says the transport, unless the entry names it. */
export function addressOf(type: "http" | "sse"): Rule {
  const address = text("url");
  return {
    read: (value, field, draft) => {
      if (!draft.homes.has("url") && !draft.homes.has("type")) draft.homes.set("type", type);
      return address.read(value, field, draft);
    },
    write: (draft, field) => {
      if (draft.homes.get("type") !== type) return undefined;
      draft.homes.delete("type");
      return address.write?.(draft, field);
    },
  };
}

/**
 * Settles which transport an entry means: what it says, else what it holds, else what the client assumes of an
 * address. Our entries name the transport of remote servers only. Answers why an entry has none.
 */
export function settleTransport(
  homes: Homes,
  assumed: "http" | "sse",
): { problem: string } | { surplus: "command" | "url" | undefined } {
  const hasCommand = homes.has("command");
  const hasUrl = homes.has("url");
  if (!hasCommand && !hasUrl) return { problem: "it has neither a command nor an address" };
  const type = homes.get("type") ?? (hasCommand ? "stdio" : assumed);
  if (type === "stdio" && !hasCommand) return { problem: "it says stdio but has no command" };
  if (type !== "stdio" && !hasUrl) return { problem: "it says it is remote but has no address" };
  const surplus = hasCommand && hasUrl ? (type === "stdio" ? "url" : "command") : undefined;
  if (surplus) homes.delete(surplus);
  if (type === "stdio") homes.delete("type");
  else homes.set("type", type);
  if (type !== "stdio" && !isAddress(homes.get("url")))
    return { problem: "its address is neither http nor https" };
  return { surplus };
}

/** One with references is known only when they are looked up. */
function isAddress(url: unknown): boolean {
  if (typeof url !== "string") return false;
  const isKnown = parseTemplate(url).every((part) => typeof part === "string");
  return !isKnown || /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}
