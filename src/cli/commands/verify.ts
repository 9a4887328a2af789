import { existsSync } from "node:fs";
import type { Command } from "commander";
import { errorTable } from "../../host.ts";
import { PlugboardError } from "../../index.ts";
import type { Workspace } from "../../config.ts";
import type { PinReport } from "../../host.ts";
import type { LoadedConfig } from "../../index.ts";
import { joinArgv } from "../../lib/argv.ts";
import { knownServer } from "../find.ts";
import { printLines } from "../terminal/live-area.ts";
import { count, hanging, json, safe, screenWidth } from "../terminal/print.ts";
import { withSameConfig } from "../terminal/same-config.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { spinWhile } from "../terminal/waiting.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";
import { isOpen, pinDigest } from "../views/pin-digest.ts";
import { pinReportJson, pinReportLines } from "../views/pin-report.ts";
import { onlyServers, withHub } from "../with-hub.ts";

type Stray = { server: string; file: string };

export function command(terminal: Terminal): Command {
  return verb(
    "verify",
    "Connect to the servers and compare what they offer with plugboard.lock. Exits with 0 if all is as pinned, with 7 if something is new, changed or missing, and with 3 if a lock file cannot be used. Writes nothing, so that it can run in CI.",
    ["verify", "verify issues", "verify --config .mcp.json --json"],
  )
    .argument(
      "[servers...]",
      "the servers to check (default: all whose configuration has a lock file beside it)",
    )
    .action(async (names: string[], options: CommonOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        const config = await workspace.load();
        for (const name of names) knownServer(config, name);
        const checked = names.length > 0 ? [...new Set(names)] : lockedServers(config);
        const stray = names.length > 0 ? [] : await workspace.strayPins(config);
        if (checked.length + stray.length === 0) throw noLock(config);
        const reports = await check(workspace, config, checked, terminal);
        terminal.exitCode = exitCodeOf(reports, stray);
        // A lock file that cannot be read is not written either.
        const open = reports.filter((one) => isOpen(one) && !config.pins?.get(one.server)?.isFileBroken);
        if (options.json) {
          const servers = reports.map(pinReportJson);
          const ok = terminal.exitCode === 0;
          return terminal.out(json({ ok, digest: pinDigest(open), servers, notConfigured: stray }));
        }
        show(reports, stray, options.config, terminal);
        const digest = pinDigest(open);
        if (digest === undefined) return;
        const approve = ["plugboard", "lock", ...open.map(({ server }) => server), "--expect", digest];
        terminal.out(
          withSameConfig(`To approve exactly this, run \`${joinArgv(approve)}\`.\n`, options.config),
        );
      }),
    );
}

async function check(
  workspace: Workspace,
  config: LoadedConfig,
  names: readonly string[],
  terminal: Terminal,
): Promise<PinReport[]> {
  const use = { config: onlyServers(config, []), tolerant: true, isFresh: true };
  return withHub(terminal, use, workspace, (hub, signal) =>
    spinWhile(
      terminal,
      () => ({ words: `Asking ${count(names.length, "server")}` }),
      () => hub.checkPins(names, { signal }),
    ),
  );
}

/** Those whose lock file exists. A server that is switched off offers nothing; one that cannot be used must not pass. */
function lockedServers({ servers, lockFiles }: LoadedConfig): string[] {
  return [...servers.values()]
    .filter(({ status }) => status.kind === "ready" || status.reason !== "off")
    .map(({ name }) => name)
    .filter((name) => existsSync(lockFiles?.get(name) ?? ""));
}

function noLock({ lockFiles }: LoadedConfig): PlugboardError {
  const places = [...new Set(lockFiles?.values())];
  const message =
    places.length === 0
      ? "There is no server to verify."
      : `There is no plugboard.lock. Looked for ${places.join(" and ")}.`;
  const hint =
    places.length === 0
      ? "Add one with `plugboard add`, then pin what it offers with `plugboard lock`."
      : "Write one with `plugboard lock`.";
  return new PlugboardError("lock-unreadable", message, { hint });
}

function exitCodeOf(reports: readonly PinReport[], stray: readonly Stray[]): number {
  if (reports.some(({ state }) => state === "unreadable")) return errorTable["lock-unreadable"].exitCode;
  const differs = reports.some(({ state }) => state === "changed" || state === "unpinned");
  if (differs || stray.length > 0) return errorTable["lock-mismatch"].exitCode;
  return reports.find(({ error }) => error)?.error?.exitCode ?? 0;
}

function show(
  reports: readonly PinReport[],
  stray: readonly Stray[],
  config: string | undefined,
  terminal: Terminal,
): void {
  const width = screenWidth(terminal, 100);
  const lines = reports.flatMap((report) => pinReportLines(report, width));
  terminal.out(printLines(lines, terminal));
  for (const { server, file } of stray)
    terminal.out(`${safe(server)}  pinned in ${safe(file)}, but not configured there any more\n`);
  const are = (number: number) => (number === 1 ? "is" : "are");
  const of = (state: PinReport["state"]) => reports.filter((report) => report.state === state).length;
  const [same, changed, unpinned, failed] = [of("same"), of("changed"), of("unpinned"), of("failed")];
  const say = (text: string) => terminal.out(`${hanging(withSameConfig(text, config), 0, terminal)}\n`);
  if (same === reports.length && stray.length === 0)
    say(`${count(reports.length, "server offers", "servers offer")} exactly what is pinned.`);
  if (changed > 0)
    say(
      `${changed} of ${count(reports.length, "server")} ${are(changed)} not as pinned. Run \`plugboard lock\` to review the differences and approve them.`,
    );
  if (unpinned > 0)
    say(`${count(unpinned, "server")} ${are(unpinned)} not pinned yet. Run \`plugboard lock\` to pin them.`);
  if (stray.length > 0)
    say(
      `${count(stray.length, "server")} ${are(stray.length)} pinned but not configured. Run \`plugboard lock\` to remove the pins.`,
    );
  if (failed > 0)
    say(`${count(failed, "server")} could not be checked. Run \`plugboard status\` to see why.`);
  if (reports.some(({ state }) => state === "unreadable"))
    terminal.out(`${errorTable["lock-unreadable"].hint}\n`);
}
