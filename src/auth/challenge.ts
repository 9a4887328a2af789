/** What the `WWW-Authenticate` header of a refused request says about the required login. */
export interface Challenge {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
  error?: string | undefined;
  /** True if the server asks for tokens that are bound to a key. */
  dpop?: boolean | undefined;
}

const longest = 8_192;
/** Bounded, and anchored at the start of a word, so that a hostile header takes linear time. */
const parameter = /(?<![\w-])([\w-]{1,40})=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Reads only the Bearer and DPoP schemes. If a parameter is repeated, its first value is used. */
export function parseChallenge(header: string): Challenge {
  const text = header.slice(0, longest);
  const dpop = /(^|,)\s*dpop\b/i.test(text);
  if (!dpop && !/(^|,)\s*bearer\b/i.test(text)) return {};
  const values = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of text.matchAll(parameter)) {
    const value = quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
    if (value !== "" && !values.has(name.toLowerCase())) values.set(name.toLowerCase(), value);
  }
  return {
    resourceMetadataUrl: URL.parse(values.get("resource_metadata") ?? "") ?? undefined,
    scope: values.get("scope"),
    error: values.get("error"),
    dpop,
  };
}

/** True if the proof had no nonce or an old one; the response then contains the nonce to use. */
export function wantsNonce(header: string): boolean {
  const { dpop, error } = parseChallenge(header);
  return dpop === true && error === "use_dpop_nonce";
}
