import { isRecord } from "../lib/record.ts";
import { hidden, looksSecret, looksSecretParameter } from "../lib/secret-words.ts";
import type { ServerEntry } from "./model.ts";
import { parseTemplate, referencesIn, showReference } from "./template.ts";

/**
 * The entry with everything hidden that may be a secret: literals in `env`, `headers` and the client secret, and
 * parts of a URL. References (`${NAME}`) stay as written.
 */
export function shownEntry({ written }: Pick<ServerEntry, "written">): unknown {
  if (!isRecord(written)) return written;
  const { args, env, headers, oauth, url, network, ...rest } = written;
  return {
    ...rest,
    ...(args === undefined ? {} : { args: isTexts(args) ? shownArgs(args) : args }),
    ...(url === undefined ? {} : { url: typeof url === "string" ? shownUrl(url) : url }),
    ...(env === undefined ? {} : { env: hideLiterals(env) }),
    ...(headers === undefined ? {} : { headers: hideLiterals(headers) }),
    ...(oauth === undefined ? {} : { oauth: hideSecret(oauth) }),
    ...(network === undefined ? {} : { network: hideProxyPassword(network) }),
  };
}

function hideLiterals(values: unknown): unknown {
  if (!isRecord(values)) return values;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, hideLiteral(value)]));
}

function hideLiteral(value: unknown): unknown {
  if (typeof value !== "string") return hidden;
  return referencesIn(value).length > 0 ? withoutFallbacks(value) : hidden;
}

/** Hides defaults: they are literals and may be secrets. */
function withoutFallbacks(text: string): string {
  return parseTemplate(text)
    .map((part) => {
      if (typeof part === "string") return part;
      const shown = showReference(part);
      return part.fallback === undefined ? shown : `${shown.slice(0, -1)}:-${hidden}}`;
    })
    .join("");
}

/** The arguments of a command line, with likely credentials hidden. */
export function shownArgs(args: readonly string[]): string[] {
  return args.map((word, index) => {
    const secret = secretInArgument(args, index);
    if (secret !== undefined) return word.slice(0, -secret.length) + (hideLiteral(secret) as string);
    return /^[a-z][a-z+.-]*:\/\//i.test(word) ? shownUrl(word) : word;
  });
}

/** The likely secret in an argument: the one after `--token`, or part of `--token=…`, `--env=TOKEN=…` or `Authorization: …`. */
export function secretInArgument(args: readonly string[], index: number): string | undefined {
  const [word = "", before = ""] = [args[index], args[index - 1]];
  const inside = assignedSecret(word, /^(-H|--headers?)$/i.test(before));
  if (inside !== undefined) return inside;
  const isOption = /^-[\w.-]+$/.test(before) && looksSecret(before);
  return isOption && word !== "" && !word.startsWith("-") ? word : undefined;
}

function assignedSecret(word: string, isHeader = false): string | undefined {
  const [, name = "", assigned = ""] = /^(-{0,2}[\w.-]+)=(.+)$/s.exec(word) ?? [];
  if (name !== "") return looksSecret(name) ? assigned : assignedSecret(assigned);
  // Without a space after the colon it may be something else, such as an image and its tag.
  const [, header = "", sent = ""] =
    (isHeader ? /^([\w-]+): *(.+)$/s : /^([\w-]+): +(.+)$/s).exec(word) ?? [];
  return looksSecret(header) ? sent : undefined;
}

function hideSecret(oauth: unknown): unknown {
  if (!isRecord(oauth) || oauth["clientSecret"] === undefined) return oauth;
  return { ...oauth, clientSecret: hideLiteral(oauth["clientSecret"]) };
}

function hideProxyPassword(network: unknown): unknown {
  if (!isRecord(network) || typeof network["proxy"] !== "string") return network;
  return { ...network, proxy: shownUrl(network["proxy"]) };
}

/** The URL with the user name, password and the values of credential-like parameters hidden. */
export function shownUrl(url: string): string {
  return url
    .replace(/\/\/[^/@]*@/, `//${hidden}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (whole, start: string, name: string, value: string) =>
      looksSecretParameter(name) && referencesIn(value).length === 0 ? `${start}${name}=${hidden}` : whole,
    );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
