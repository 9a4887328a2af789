import { BlockList, isIP } from "node:net";
import type { Environment } from "../../../lib/folders.ts";

/**
 * The proxy for a request, if any. A server's own `network.proxy` takes precedence, and `none` disables the proxy.
 * Otherwise the usual variables apply, lower case first, but never to this machine, which a remote proxy cannot reach.
 */
export function proxyFor(url: URL, setting: string | undefined, env: Environment): string | undefined {
  if (setting !== undefined && setting !== "") return setting === "none" ? undefined : setting;
  const variable = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const proxy = read(env, variable) ?? read(env, "all_proxy");
  if (proxy === undefined || isLoopback(bareHost(url)) || isExempt(url, read(env, "no_proxy") ?? ""))
    return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function read(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

function isExempt(url: URL, list: string): boolean {
  const host = bareHost(url);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      if (entry.includes("/")) return isInSubnet(host, entry);
      const parts = /^(?:\[(.+)\]|([^:]+)|(.*:.*:.*))(?::(\d+))?$/.exec(entry);
      const [, bracketed, name, address, entryPort] = parts ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const pattern = (bracketed ?? name ?? address ?? entry).replace(/^\*?\./, "");
      return host === pattern || (isIP(host) === 0 && host.endsWith(`.${pattern}`));
    });
}

function isInSubnet(host: string, entry: string): boolean {
  const [address = "", prefix = ""] = entry.split("/");
  const family = isIP(host);
  if (family === 0 || isIP(address) !== family || !/^\d{1,3}$/.test(prefix)) return false;
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false;
  const subnet = new BlockList();
  subnet.addSubnet(address, Number(prefix), family === 4 ? "ipv4" : "ipv6");
  return subnet.check(host, family === 4 ? "ipv4" : "ipv6");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || host.startsWith("127.");
}

function bareHost(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}
