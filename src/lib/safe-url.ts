import { BlockList, isIP } from "node:net";

const ownAddresses = new BlockList();
ownAddresses.addSubnet("127.0.0.0", 8, "ipv4");
ownAddresses.addAddress("0.0.0.0", "ipv4");
ownAddresses.addAddress("::1", "ipv6");
ownAddresses.addAddress("::", "ipv6");

/**
 * True if a URL may be shown to a person, opened in a browser or used for a login: https, or http on this machine.
 * Never a URL that runs code, reads files or contains credentials. Without `localAllowed`, no URL on this machine.
 */
export function isSafeUrl(address: string | URL, localAllowed = true): boolean {
  const url = URL.parse(String(address));
  if (!url || url.username !== "" || url.password !== "") return false;
  if (isOnThisMachine(url)) return localAllowed && /^https?:$/.test(url.protocol);
  return url.protocol === "https:";
}

/**
 * True if a login may send requests to this machine. A remote server must not direct us to local services, unless the
 * configuration itself names one of them.
 */
export function allowsLocal(own: URL, ...configured: (string | undefined)[]): boolean {
  const named = configured.map((address) => (address === undefined ? null : URL.parse(address)));
  return [own, ...named].some((url) => url !== null && isOnThisMachine(url));
}

/** Says why a URL is not safe, as the end of a sentence such as "X, which …". */
export function whyUnsafe(text: string, localAllowed = true): string {
  const url = URL.parse(text);
  if (url && (url.username !== "" || url.password !== "")) return "contains a user name or password";
  if (url && !localAllowed && isOnThisMachine(url)) return "is on this machine, but the server is not";
  return "is neither https nor on this machine";
}

export function isOnThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const version = isIP(host);
  if (version !== 0) return ownAddresses.check(host, version === 4 ? "ipv4" : "ipv6");
  return host === "localhost" || host.endsWith(".localhost");
}
