import type { Command } from "commander";
import { assertNoLoop } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import { registeredTelemetry } from "../registered-telemetry.ts";
import { returnIdleMemory } from "../serve/idle-memory.ts";
import { serveOverHttp } from "../serve/over-http.ts";
import { serveOverStdio } from "../serve/over-stdio.ts";
import { ServedHub } from "../serve/served-hub.ts";
import { serveSettings } from "../serve/settings.ts";
import type { ServeOptions } from "../serve/settings.ts";
import { safe } from "../terminal/print.ts";
import { reportDiagnostics } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface Options extends CommonOptions, ServeOptions {
  stdio?: boolean;
  newToken?: boolean;
  quiet?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "serve",
    "Offer all servers as one MCP server: over HTTP on this machine, or over stdio to the client that starts it. Prints how to connect the usual clients. Without any configured server it offers a small demo. Ctrl-C lets running requests finish, for up to 10 seconds; a second one stops at once.",
    ["serve", "serve --port 7421 --bundle reading", "serve --stdio", "serve --json", "serve --new-token"],
  )
    .option("--stdio", "serve over standard input and output instead of HTTP; ends with the input")
    .option("--host <address>", "the address to listen on (default: gateway.host, or 127.0.0.1)")
    .option(
      "--port <number>",
      "the port to listen on; 0 is any free one (default: gateway.port, or 7420 or the next free one)",
    )
    .option("--bundle <name>", "offer only this bundle")
    .option(
      "--no-auth",
      "let every program on this machine use all servers without the token; only on loopback",
    )
    .option("--new-token", "replace the token first; clients need the new one")
    .option("-q, --quiet", "do not log what happens on stderr")
    .action(async (options: Options) =>
      withWorkspace(terminal, options, (workspace) => serve(workspace, options, terminal)),
    );
}

async function serve(workspace: Workspace, options: Options, terminal: Terminal): Promise<void> {
  if (options.stdio) refuseHttpOptions(options);
  const config = await workspace.load();
  const settings = serveSettings(options, config);
  assertNoLoop(config, workspace.env);
  if (!options.quiet) reportDiagnostics(config.diagnostics, terminal, options.config);
  const log = (line: string) => void (options.quiet || terminal.err(`${safe(line)}\n`));
  for (const { file, untrustedSettings } of config.sources)
    if (untrustedSettings)
      log(`The settings and bundles in ${file} are not used: review them with \`plugboard trust\`.`);
  const { telemetry, flush, problem } = await registeredTelemetry(workspace.env, terminal);
  if (problem) log(`warning: ${problem.message} ${problem.hint}`);
  const served = await ServedHub.open({
    workspace,
    config,
    telemetry,
    bundle: settings.bundle,
    check: (changed) => void serveSettings(options, changed),
    log,
  });
  using _memory = returnIdleMemory();
  try {
    if (options.stdio) await serveOverStdio(served, settings, workspace, terminal);
    else await serveOverHttp({ served, settings, workspace, terminal, log, options });
  } finally {
    await served.close();
    const unsent = await flush();
    if (unsent) log(`warning: ${unsent.message} ${unsent.hint}`);
  }
}

/** What is typed and does nothing would be believed. */
function refuseHttpOptions(options: Options): void {
  const typed = [
    options.host !== undefined && "--host",
    options.port !== undefined && "--port",
    !options.auth && "--no-auth",
    options.newToken && "--new-token",
    options.json && "--json",
  ].filter((name) => typeof name === "string");
  if (typed.length === 0) return;
  throw new PlugboardError("usage-invalid", `--stdio cannot be combined with ${typed.join(", ")}.`, {
    hint: `Leave out ${typed.join(", ")}, or leave out --stdio.`,
  });
}
