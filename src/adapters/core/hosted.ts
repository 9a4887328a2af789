import { BlockList, isIP } from "node:net";
import { PlugboardError } from "../../index.ts";
import type { View } from "../../index.ts";
import { looksSecretParameter } from "../../lib/secret-words.ts";

/** How a provider is told about a server that it calls by itself. */
export interface HostedOptions {
  /** A token for the server. It is sent to the provider, so nothing of ours is used unless you pass it. */
  authorization?: string | undefined;
  /** Default: the configured URL. */
  url?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A server that a provider calls by itself, with what our rules say about its tools. */
export interface HostedServer {
  name: string;
  url: string;
  /** The server's own names of the tools that may be called. */
  tools: string[];
  /** Those of them that somebody has to approve. */
  asked: string[];
}

/**
 * Describes a public server for a provider that connects to it by itself. The provider's calls do not pass through
 * Plugboard: only which tools there are, and which need approval, can be carried over. Rules that look at arguments
 * count as a need for approval. Throws `usage-invalid` for a server that the provider cannot or must not reach.
 */
export async function hostedServer(
  view: View,
  server: string,
  options: HostedOptions,
): Promise<HostedServer> {
  const url = options.url ?? view.writtenUrl(server);
  const problem = problemOf(url, view.isUntrusted(server), options.url !== undefined);
  if (url === undefined || problem !== undefined)
    throw new PlugboardError(
      "usage-invalid",
      `"${server}" cannot be called by the provider itself: ${problem}.`,
      {
        server,
        hint: "Offer its tools through Plugboard instead.",
      },
    );
  const tools = await view.view({ servers: [server] }).tools({ signal: options.signal });
  const judged = await Promise.all(
    tools.map(async ({ id, name }) => {
      const { approval } = await view.explainTool(id, { signal: options.signal });
      const isConditional = approval.conditions.length > 0;
      return {
        name,
        isDenied: approval.outcome === "denied",
        isAsked: isConditional || approval.outcome === "asked",
      };
    }),
  );
  const allowed = judged.filter(({ isDenied }) => !isDenied);
  return {
    name: server,
    url,
    tools: allowed.map(({ name }) => name),
    asked: allowed.filter(({ isAsked }) => isAsked).map(({ name }) => name),
  };
}

function problemOf(url: string | undefined, isUntrusted: boolean, isPassed: boolean): string | undefined {
  if (isUntrusted) return "it is untrusted, and its results could not be marked as data";
  if (url === undefined) return "it is not a remote server";
  if (url.includes("${")) return "its URL has values that are filled in here; pass `url`";
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "https:") return "its URL is not https";
  if (parsed.username !== "" || parsed.password !== "") return "its URL has a password";
  if ([...parsed.searchParams.keys()].some(looksSecretParameter))
    return "its URL has a parameter that looks like a credential";
  if (!isPassed && parsed.search !== "") return "its URL has a query; pass `url` if the provider may know it";
  return isPublicHost(parsed.hostname) ? undefined : `${parsed.hostname} is not a public address`;
}

function isPublicHost(host: string): boolean {
  const plain = host.replaceAll(/^\[|\]$/g, "").replace(/\.$/, "");
  const version = isIP(plain);
  if (version > 0) return !privateRanges().check(plain, version === 6 ? "ipv6" : "ipv4");
  return plain.includes(".") && !/\.(localhost|localdomain|local|internal|lan|home\.arpa|test)$/i.test(plain);
}

function privateRanges(): BlockList {
  const ranges = new BlockList();
  const subnets = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
  ];
  for (const subnet of [...subnets, "192.168.0.0/16", "224.0.0.0/3"]) {
    const [address = "", bits] = subnet.split("/");
    ranges.addSubnet(address, Number(bits), "ipv4");
  }
  for (const [address, bits] of [
    ["::", 127],
    ["fc00::", 7],
    ["fe80::", 10],
    ["ff00::", 8],
    ["::ffff:0:0", 96],
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
  ] as const)
    ranges.addSubnet(address, bits, "ipv6");
  return ranges;
}
