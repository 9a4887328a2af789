import { assertNoLostRule, ruleFields } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { Settings } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import { nearest } from "../../lib/suggest.ts";
import { someOf } from "../views/some-of.ts";

/** The default port, if it is free. */
export const usualPort = 7420;

export interface ServeOptions {
  host?: string | undefined;
  port?: string | undefined;
  bundle?: string | undefined;
  /** False with `--no-auth`. */
  auth: boolean;
}

export interface ServeSettings {
  host: string;
  /** Undefined if nobody asked for a certain one. */
  port: number | undefined;
  auth: "token" | "none";
  bundle: string | undefined;
  /** Calls that need approval wait for it. */
  isQueued: boolean;
  gateway: NonNullable<Settings["gateway"]>;
}

/** What the command line and the configuration say together. Refuses what would be less safe than somebody thinks. */
export function serveSettings(options: ServeOptions, config: LoadedConfig): ServeSettings {
  // With a mistake, more could be served than was meant.
  assertNoLostRule(config, decisive);
  const { gateway = {}, approvals } = config.settings;
  const host = options.host ?? gateway.host ?? "127.0.0.1";
  const port = options.port === undefined ? gateway.port : portNumber(options.port);
  const auth = options.auth ? (gateway.auth ?? "token") : "none";
  const { bundle } = options;
  if (bundle !== undefined) requireBundle(bundle, config);
  if (auth === "none" && !isLoopback(host)) throw openToAll(host, options.auth);
  if (gateway.names?.style === "plain") requireOneServer(config, bundle);
  return { host, port, auth, bundle, isQueued: approvals?.queue === true, gateway };
}

/** The settings that decide what is served, and what may be called without asking. */
const decisive = [...ruleFields, "approvals", "gateway", "output", "profiles"];

/** Only for this machine. `0.0.0.0` and `::` are not: they mean all of its addresses. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** An address that stands for all of them is none that a client can use. */
export function reachableHost({
  host,
  gateway: { allowedHosts: [named] = [] },
}: Pick<ServeSettings, "host" | "gateway">): string {
  const isAll = /^(?:0\.0\.0\.0|\[?::\]?)$/.test(host);
  const reachable = isAll ? (named?.replace(/:\d+$/, "") ?? "127.0.0.1") : host;
  return reachable.includes(":") && !reachable.startsWith("[") ? `[${reachable}]` : reachable;
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new PlugboardError("usage-invalid", `"${text}" is not a port.`, {
    hint: "Use a number from 0 to 65535; 0 is any free port.",
  });
}

function requireBundle(bundle: string, { bundles, sources }: LoadedConfig): void {
  if (bundles.get(bundle)?.config) return;
  if (bundles.has(bundle))
    throw new PlugboardError("config-invalid", `The bundle "${bundle}" has mistakes.`, {});
  const waiting = sources.find(
    ({ untrustedSettings: { bundles: own } = {} }) => isRecord(own) && Object.hasOwn(own, bundle),
  );
  if (waiting)
    throw new PlugboardError(
      "usage-invalid",
      `The bundle "${bundle}" is in ${waiting.file ?? "a file"}, which you have not trusted.`,
      {
        hint: "Review and allow it with `plugboard trust`.",
      },
    );
  const near = nearest(bundle, bundles.keys());
  throw new PlugboardError("server-unknown", `There is no bundle "${bundle}".`, {
    hint:
      near !== undefined
        ? `Did you mean ${near}?`
        : bundles.size > 0
          ? `Those in the configuration are ${someOf([...bundles.keys()])}.`
          : "Add it under `bundles` in the configuration.",
  });
}

function requireOneServer(config: LoadedConfig, bundle: string | undefined): void {
  const members = bundle === undefined ? undefined : config.bundles.get(bundle)?.config?.servers;
  const servers = members ?? [...config.servers.keys()];
  if (servers.length === 1 || (servers.length === 0 && config.servers.size === 0)) return;
  const message = `The names of tools are \`plain\`, which works only for exactly one server, but there are ${servers.length}.`;
  throw new PlugboardError("config-invalid", message, {
    hint: "Set `gateway.names.style` to `server`, or serve a bundle of one server with `--bundle`.",
  });
}

function openToAll(host: string, isConfigured: boolean): PlugboardError {
  const message = `Without authentication, everybody who reaches ${host} could use all servers.`;
  return new PlugboardError("usage-invalid", message, {
    hint: isConfigured
      ? "Set `gateway.auth` to `token`, or listen on 127.0.0.1."
      : "Leave out --no-auth, or listen on 127.0.0.1.",
  });
}
