/** What may be opened and sent to: https, or plain http on this machine; never credentials in an address. */
export function isSafeUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

function isLoopback(host: string): boolean {
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/** What is wrong with an address that is not safe, for behind its name. */
export function whyUnsafe(text: string): string {
  const url = URL.parse(text);
  if (url && (url.username !== "" || url.password !== "")) return "has a user name or password in it";
  return "is neither https nor on this machine";
}

export function isSafeAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isSafeUrl(url);
}
