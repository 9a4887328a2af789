import { BlockList, isIP } from "node:net";

const ownAddresses = new BlockList();
ownAddresses.addSubnet("127.0.0.0", 8, "ipv4");
ownAddresses.addAddress("0.0.0.0", "ipv4");
ownAddresses.addAddress("::1", "ipv6");
ownAddresses.addAddress("::", "ipv6");

/**
 * What a person may be shown, a browser may open and a login may be sent to: https, or plain http on this machine;
 * nothing that runs code or reads files, and never credentials in an address. Without `localAllowed` nothing on this
 * machine at all.
 */
export function isSafeUrl(address: string | URL, localAllowed = true): boolean {
  const url = URL.parse(String(address));
  if (!url || url.username !== "" || url.password !== "") return false;
  if (isOnThisMachine(url)) return localAllowed && /^https?:$/.test(url.protocol);
  return url.protocol === "https:";
}

/**
 * Whether a login may go to this machine. A server elsewhere has no business with the services here, unless the
 * configuration itself names one of them.
 */
export function allowsLocal(own: URL, ...configured: (string | undefined)[]): boolean {
  const named = configured.map((address) => (address === undefined ? null : URL.parse(address)));
  return [own, ...named].some((url) => url !== null && isOnThisMachine(url));
}

/** What is wrong with an address that is not safe, for behind its name. */
export function whyUnsafe(text: string, localAllowed = true): string {
  const url = URL.parse(text);
  if (url && (url.username !== "" || url.password !== "")) return "has a user name or password in it";
  if (url && !localAllowed && isOnThisMachine(url)) return "is on this machine, and the server is not";
  return "is neither https nor on this machine";
}

function isOnThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const version = isIP(host);
  if (version !== 0) return ownAddresses.check(host, version === 4 ? "ipv4" : "ipv6");
  return host === "localhost" || host.endsWith(".localhost");
}
