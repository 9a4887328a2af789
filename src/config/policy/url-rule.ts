import { domainToASCII } from "node:url";
import { matchesGlob } from "../../lib/glob.ts";

/** A URL rule in its parts. `*` is a wildcard in each of them. */
interface UrlRule {
  scheme: string;
  host: string;
  /** Undefined for any. */
  port: string | undefined;
  path: string;
  query: string | undefined;
}

/** A URL in the same parts, read once for all rules. */
export interface UrlParts {
  scheme: string;
  host: string;
  port: string;
  path: string;
  query: string;
}

export function urlParts(text: string): UrlParts | undefined {
  const url = URL.parse(text);
  if (!url) return undefined;
  const scheme = url.protocol.slice(0, -1);
  return {
    scheme,
    host: plainHost(url.hostname),
    port: url.port || (scheme === "https" ? "443" : "80"),
    path: url.pathname,
    query: url.search.slice(1),
  };
}

/** Rules that were read already, or why they cannot be. */
export type KnownUrlRules = Map<string, UrlRule | string>;

/** Whether all readings of a URL must match, as for a rule that allows, or any one, as for a rule that denies. */
export type Readings = "all" | "any";

/**
 * Compares scheme, host, port, path and query separately: a `*` in the host never matches part of the path. A rule
 * without a port covers every port, one without a query every query, and a path covers what is below it.
 */
export function matchesUrl(rule: string, url: UrlParts, readings: Readings, known: KnownUrlRules): boolean {
  const parsed = known.get(rule) ?? parseUrlRule(rule);
  known.set(rule, parsed);
  if (typeof parsed === "string") return false;
  const { scheme, host, port, path, query } = parsed;
  const isPlace =
    matchesGlob(host, url.host) &&
    matchesGlob(scheme, url.scheme) &&
    (port === undefined || matchesGlob(port, url.port));
  if (!isPlace || (query !== undefined && !matchesQuery(query, url.query, readings))) return false;
  const strict = coversPath(plainPath(path), plainPath(url.path));
  const lenient = coversPath(loosePath(path), loosePath(url.path));
  return readings === "all" ? strict && lenient : strict || lenient;
}

/** A rule that denies also matches if its parameters stand among others, in another order or spelling. */
function matchesQuery(rule: string, query: string, readings: Readings): boolean {
  if (matchesGlob(decoded(rule), decoded(query))) return true;
  const parameters = looseParameters(query);
  return (
    readings === "any" &&
    looseParameters(rule).every((wanted) => parameters.some((one) => matchesGlob(wanted, one)))
  );
}

function looseParameters(query: string): string[] {
  return query.split("&").map((one) => unescapedFully(one.replaceAll("+", " ")).toLowerCase());
}

/** Why no URL can match the rule; undefined if one can. */
export function urlRuleProblem(rule: string): string | undefined {
  const parsed = parseUrlRule(rule);
  return typeof parsed === "string" ? parsed : undefined;
}

function parseUrlRule(rule: string): UrlRule | string {
  const parts = /^([^:/?#]+):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rule.trim());
  if (!parts) return 'a URL rule starts with a scheme and a host, for example "https://api.example.com"';
  const [, scheme = "", authority = "", path = "", query, fragment] = parts;
  const lower = scheme.toLowerCase();
  if (!matchesGlob(lower, "http") && !matchesGlob(lower, "https"))
    return `"${scheme}" is neither http nor https`;
  if (path === "" && query !== undefined)
    return 'a "?" begins the query: write "/?" if that is meant, and "*" for any characters';
  if (authority.includes("@")) return "a URL rule cannot have a user name";
  if (fragment !== undefined) return "a URL rule cannot have a `#` part, because servers never see it";
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  const known = canonicalHost(host);
  if (known === undefined) return `"${authority}" is not a host that a URL can have`;
  if (port !== undefined && (!/^[\d*?]+$/.test(port) || (/^\d+$/.test(port) && Number(port) > 65_535)))
    return `"${port}" is not a port`;
  if (known.endsWith(".0") && /^\/\d\d?$/.test(path))
    return `a range of addresses is written with \`*\`, for example "${scheme}://10.*"`;
  const url = new URL(`http://host${path}${query ?? ""}`);
  return {
    scheme: lower,
    host: known,
    port: port === undefined || !/^\d+$/.test(port) ? port : String(Number(port)),
    path: url.pathname,
    query: query && url.search.slice(1),
  };
}

/** The host as the URL parser writes it: lower case, no final dot, international names and numbers in one spelling. */
function canonicalHost(host: string): string | undefined {
  const plain = host.toLowerCase().replace(/\.+$/, "");
  // The parser of URLs takes a backslash for a slash, so the host would end there.
  if (plain === "" || plain.includes("\\")) return undefined;
  if (!/[*?]/.test(plain)) return plainHost(URL.parse(`http://${plain}/`)?.hostname ?? "") || undefined;
  if (/[\s%<>^|]/.test(plain) || plain.split(".").some((label) => /[*?]/.test(label) && /[^!-~]/.test(label)))
    return undefined;
  // One label by itself can be a number, which is a whole address to the parser.
  const labels = plain.split(".").map((label) => (/^[!-~]+$/.test(label) ? label : domainToASCII(label)));
  return labels.includes("") ? undefined : labels.join(".");
}

/** Without the final dot, and an IPv4 address in its own form even where it is written as IPv6. */
function plainHost(hostname: string): string {
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname);
  if (!mapped) return hostname.replace(/\.+$/, "");
  const [high = 0, low = 0] = mapped.slice(1).map((part) => parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** A path covers itself and everything below it, by whole segments: `/mcp` covers `/mcp/x` and not `/mcpx`. */
function coversPath(rule: string, path: string): boolean {
  const covered = rule.replace(/\/$/, "");
  const spellings = [path, path.replace(/\/$/, "")];
  return spellings.some((one) => matchesGlob(covered, one) || matchesGlob(`${covered}/*`, one));
}

/** As every server reads it: letters that need no escape are not escaped, and `//` is `/`. */
function plainPath(path: string): string {
  return decoded(path).replaceAll(/\/{2,}/g, "/");
}

/**
 * As a careless server may read it: everything unescaped, even twice, backslashes as slashes, parameters of segments
 * dropped, dot segments resolved, and capital letters as small ones.
 */
function loosePath(path: string): string {
  const segments: string[] = [];
  const text = unescapedFully(path).replaceAll("\\", "/").toLowerCase();
  for (const segment of text.split("/")) {
    const [name = ""] = segment.split(";");
    if (name === "..") segments.pop();
    else if (name !== "" && name !== ".") segments.push(name);
  }
  return `/${segments.join("/")}${text.endsWith("/") && segments.length > 0 ? "/" : ""}`;
}

function unescapedFully(text: string): string {
  let last = text;
  for (let round = 0; round < 4; round++) {
    const next = last.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    if (next === last) break;
    last = next;
  }
  return last;
}

/** Unescapes what means the same either way; an escaped `/`, `\`, `%`, `?`, `#`, `*` or `;` stays as it is. */
function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~!$&'()+,=:@-]/.test(character) ? character : whole.toUpperCase();
  });
}
