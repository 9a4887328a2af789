import { isRecord } from "../lib/record.ts";
import type { ServerEntry } from "./model.ts";
import { parseTemplate, referencesIn, showReference } from "./template.ts";

/** What stands in place of a value that is not shown. */
export const hidden = "(hidden)";

/**
 * An entry as it may be shown: references stay as written (`${NAME}`), but a literal in `env`, `headers` or a
 * client secret may be a secret, and so may parts of a URL.
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

/** A default is a literal too. */
function withoutFallbacks(text: string): string {
  return parseTemplate(text)
    .map((part) => {
      if (typeof part === "string") return part;
      const shown = showReference(part);
      return part.fallback === undefined ? shown : `${shown.slice(0, -1)}:-${hidden}}`;
    })
    .join("");
}

const secretOption = /^--?[\w-]*(api-?key|key|token|secret|passw(or)?d|auth(orization)?|credentials?)$/i;

/** Words of a command line, without what follows an option that asks for a credential. */
export function shownArgs(args: readonly string[]): string[] {
  return args.map((word, index) => {
    const [option = "", ...value] = word.split("=");
    if (value.length > 0 && secretOption.test(option))
      return `${option}=${hideLiteral(value.join("=")) as string}`;
    const isValue = secretOption.test(args[index - 1] ?? "") && !word.startsWith("-");
    return isValue ? (hideLiteral(word) as string) : word;
  });
}

function hideSecret(oauth: unknown): unknown {
  if (!isRecord(oauth) || oauth["clientSecret"] === undefined) return oauth;
  return { ...oauth, clientSecret: hideLiteral(oauth["clientSecret"]) };
}

function hideProxyPassword(network: unknown): unknown {
  if (!isRecord(network) || typeof network["proxy"] !== "string") return network;
  return { ...network, proxy: shownUrl(network["proxy"]) };
}

const secretParameter = /(key|token|secret|password|passwd|auth|code|sig|signature)$/i;

/** A URL without a password and without the values of parameters that look like credentials. */
export function shownUrl(url: string): string {
  return url
    .replace(/\/\/[^/@]*@/, `//${hidden}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (whole, start: string, name: string, value: string) =>
      secretParameter.test(name) && referencesIn(value).length === 0 ? `${start}${name}=${hidden}` : whole,
    );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
