/** What a refused request says about the login that is wanted (`WWW-Authenticate`). */
export interface Challenge {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
  error?: string | undefined;
  /** Whether it asks for tokens that are bound to a key. */
  dpop?: boolean | undefined;
}

const longest = 8_192;
/** Bounded, and begun only where a word begins, so that a hostile header costs time in proportion to its length. */
const parameter = /(?<![\w-])([\w-]{1,40})=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Only the schemes of OAuth count; where a parameter is given twice, its first value does. */
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

/** The proof lacked a nonce, or had an old one; the response carries the one to use. */
export function wantsNonce(header: string): boolean {
  const { dpop, error } = parseChallenge(header);
  return dpop === true && error === "use_dpop_nonce";
}
