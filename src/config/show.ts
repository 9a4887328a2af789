import { isRecord } from "../lib/record.ts";
import type { ServerEntry } from "./model.ts";
import { referencesIn } from "./template.ts";

/** What stands in place of a value that is not shown. */
export const hidden = "(hidden)";

/**
 * An entry as it may be shown: references stay as written (`${NAME}`), but a literal in `env`, `headers` or a
 * client secret may be a secret, and so may parts of a URL.
 */
export function shownEntry({ written }: Pick<ServerEntry, "written">): unknown {
  if (!isRecord(written)) return written;
  const { env, headers, oauth, url, network, ...rest } = written;
  return {
    ...rest,
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
  return referencesIn(value).length > 0 ? value : hidden;
}

function hideSecret(oauth: unknown): unknown {
  if (!isRecord(oauth) || oauth["clientSecret"] === undefined) return oauth;
  return { ...oauth, clientSecret: hideLiteral(oauth["clientSecret"]) };
}

function hideProxyPassword(network: unknown): unknown {
  if (!isRecord(network) || typeof network["proxy"] !== "string") return network;
  return { ...network, proxy: shownUrl(network["proxy"]) };
}

const secretParameter = /(^|[_-])(api[_-]?key|key|token|secret|password|auth|code|sig(nature)?)$/i;

/** A URL without a password and without the values of parameters that look like credentials. */
export function shownUrl(url: string): string {
  return url
    .replace(/\/\/[^/@]*@/, `//${hidden}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (whole, start: string, name: string, value: string) =>
      secretParameter.test(name) && referencesIn(value).length === 0 ? `${start}${name}=${hidden}` : whole,
    );
}
