import { resolve } from "node:path";
import { isPlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import { createGateway } from "../../gateway/index.ts";
import type { Gateway } from "../../gateway/index.ts";
import { defined } from "../../lib/record.ts";
import { count, jsonLine } from "../terminal/print.ts";
import { whenAborted } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { ownCommand } from "../client/own-command.ts";
import { announcement } from "./announcement.ts";
import { clientLines } from "./client-lines.ts";
import type { ServedHub } from "./served-hub.ts";
import { isLoopback, reachableHost, usualPort } from "./settings.ts";
import type { ServeSettings } from "./settings.ts";

export interface HttpServing {
  served: ServedHub;
  settings: ServeSettings;
  workspace: Workspace;
  terminal: Terminal;
  log(line: string): void;
  options: { json?: boolean; newToken?: boolean; config?: string };
}

const triedPorts = 100;
const drainMs = 10_000;

/** Serves HTTP until a signal arrives, then lets running requests finish. */
export async function serveOverHttp(serving: HttpServing): Promise<void> {
  const { served, settings, workspace, terminal, log, options } = serving;
  using caught = terminal.catchSignals();
  const { host, auth, gateway: configured, bundle } = settings;
  const token = auth === "none" ? undefined : await workspace.gatewayToken({ renew: options.newToken });
  const { limits, allowedHosts, allowedOrigins, names } = configured;
  const approval = settings.isQueued ? await workspace.approvalKey({ token: token?.token }) : undefined;
  const gateway = createGateway(served.hub, {
    auth,
    token: token?.token,
    ...(approval && { approvalKey: approval.key, sealKey: await workspace.sealKey() }),
    names,
    limits: limits && defined(limits),
    allowedHosts,
    allowedOrigins,
    bundle,
    telemetry: served.telemetry,
    onLog: log,
  });
  const stopped = whenAborted(caught.signal);
  try {
    const { port } = await listen(gateway, settings, log);
    const url = `http://${reachableHost(settings)}:${port}/mcp`;
    if (!isLoopback(host))
      log(`${host} is not only this machine, and nothing is encrypted: put a proxy with TLS before it.`);
    if (options.newToken)
      log("Another `plugboard serve` that is already running accepts the old token until it is restarted.");
    await served.prepare({ port, hosts: [`${reachableHost(settings)}:${port}`, ...(allowedHosts ?? [])] });
    if (options.json)
      terminal.out(
        jsonLine({
          url,
          auth,
          tokenFile: token?.file,
          approvalKeyFile: approval?.file,
          isDemo: served.isDemo,
          pid: process.pid,
        }),
      );
    else {
      const stdio = [...ownCommand(), "serve", "--stdio", ...repeated(serving)];
      const tokenVariable = auth === "none" ? undefined : "PLUGBOARD_TOKEN";
      const clients = await clientLines(
        { url, tokenVariable, stdio, onlyHere: onlyHere(serving) },
        workspace.machine,
      );
      const { home } = workspace.folders;
      const shown = token && { value: token.token, file: token.file, isNew: token.isNew };
      const about = {
        url,
        servers: served.hub.status(),
        isDemo: served.isDemo,
        token: shown,
        approval,
        clients,
        home,
      };
      terminal.out(announcement(about, terminal));
    }
    const failed = served
      .start({ isAnnounced: !options.json })
      .then(() => new Promise<never>(() => undefined));
    await Promise.race([stopped, failed]);
    const running = served.hub.calls().filter(({ outcome }) => outcome === undefined).length;
    log(
      running === 0
        ? "Stopping."
        : `Stopping when ${count(running, "call")} ${running === 1 ? "has" : "have"} ended, in ${drainMs / 1000} s at most.`,
    );
  } finally {
    await gateway.close({ drainMs });
  }
}

/** A port that somebody asked for is the one, or nothing: clients are told about it elsewhere. */
async function listen(
  gateway: Pick<Gateway, "listen">,
  { host, port }: ServeSettings,
  log: (line: string) => void,
): Promise<{ url: string; port: number }> {
  if (port !== undefined) return gateway.listen({ host, port });
  const bound = await listenFrom(gateway, host, usualPort);
  if (bound.port !== usualPort) {
    const elsewhere = `Clients that were told ${usualPort} reach the other one.`;
    log(`Port ${usualPort} is taken by another program, so this is ${bound.port}. ${elsewhere}`);
  }
  return bound;
}

/** Listens on this port, or the next free one. */
export async function listenFrom(
  gateway: Pick<Gateway, "listen">,
  host: string,
  first: number,
): Promise<{ url: string; port: number }> {
  for (let port = first; ; port++) {
    try {
      return await gateway.listen({ host, port });
    } catch (error) {
      if (!isTaken(error) || port >= first + triedPorts || port === 65_535) throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  return isPlugboardError(error) && (error.cause as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
}

/** The options of this run that matter there too. */
function repeated({ options, settings, workspace }: HttpServing): string[] {
  return [
    ...(options.config === undefined ? [] : ["--config", resolve(workspace.cwd, options.config)]),
    ...(settings.bundle === undefined ? [] : ["--bundle", settings.bundle]),
  ];
}

/**
 * A client that starts Plugboard does so in a folder of its own, where a project's configuration is not found, and
 * without the variables of this shell that name another one.
 */
function onlyHere({ served, options }: HttpServing): string[] {
  const scopes = ["project", "local", "inline", ...(options.config === undefined ? ["explicit"] : [])];
  const here = served.hub.status().filter(({ origin }) => scopes.includes(origin.scope));
  return here.map(({ name }) => name);
}
