import { resolve } from "node:path";
import type { Command } from "commander";
import { describeOrigin, previewServer } from "../../config.ts";
import { PlugboardError } from "../../index.ts";
import type { Review, ServerEntry, SettingsReview, TrustedContent, Workspace } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { count, hanging, json, painter, safe, sentence } from "../terminal/print.ts";
import { reportDiagnostics } from "../terminal/report.ts";
import { orCancelled } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { previewTarget, previewText } from "../views/preview.ts";
import { againView, settingsPreview, trustedTable, warned } from "../views/trust.ts";
import { shellWord } from "../../lib/argv.ts";
import { isRecord } from "../../lib/record.ts";
import { verb, withWorkspace } from "../verb.ts";
import type { CommonOptions } from "../verb.ts";

interface TrustOptions extends CommonOptions {
  yes?: boolean;
  list?: boolean;
  revoke?: boolean;
  purge?: boolean;
  all?: boolean;
}

export function command(terminal: Terminal): Command {
  return verb(
    "trust",
    "Review what a project's files would run or contact, and allow it. A changed entry or script must be allowed again.",
    ["trust", "trust files", "trust --list", "trust files --revoke", "trust --purge"],
  )
    .argument("[names...]", "the servers to review (default: all that are not trusted yet)")
    .option("-y, --yes", "allow without asking")
    .option("--list", "only show what is not trusted yet, and which contents you trusted")
    .option("--revoke", "revoke all trusted contents of the named servers or settings files in this project")
    .option("--purge", "forget trusted contents that are not in use any more")
    .option("--all", "with --list or --revoke: in all projects")
    .action(async (names: string[], options: TrustOptions) =>
      withWorkspace(terminal, options, async (workspace) => {
        assertOneAction(options);
        const config = await workspace.load();
        if (!options.json) reportDiagnostics(config.diagnostics, terminal, options.config);
        if (options.revoke) return revoke(names, config, workspace, options, terminal);
        if (options.purge) return purge(config, workspace, options, terminal);
        const chosen = names.map((name) => workspace.require(config, name));
        const servers = names.length > 0 ? chosen : [...config.servers.values()];
        const entries = servers.filter(isWaiting);
        const reviews = await workspace.decisions.review(entries);
        const waiting = entries.map((entry, index) => ({ entry, review: reviews[index] ?? { files: [] } }));
        const all = await waitingSettings(config, workspace);
        const settings = names.length > 0 ? all.filter((one) => listsTools(one, entries)) : all;
        if (options.list) return list(names, { waiting, settings }, config, workspace, options, terminal);
        if (waiting.length === 0 && settings.length === 0) {
          return terminal.out(
            options.json ? json({ trusted: [], declined: [] }) : "Nothing here needs your trust.\n",
          );
        }
        await ask(waiting, settings, workspace, options, terminal);
      }),
    );
}

interface Waiting {
  entry: ServerEntry;
  review: Review;
}

interface WaitingSettings {
  file: string;
  settings: Record<string, unknown>;
  review: SettingsReview;
}

function assertOneAction({ list: shows, revoke: revokes, purge: purges, all, yes }: TrustOptions): void {
  const chosen = [shows, revokes, purges].filter(Boolean).length;
  if (chosen > 1) throw new PlugboardError("usage-invalid", "Use only one of --list, --revoke and --purge.");
  if (all && !shows && !revokes)
    throw new PlugboardError(
      "usage-invalid",
      "--all requires --list or --revoke: trust is given one project at a time.",
    );
  if (yes && chosen > 0) throw new PlugboardError("usage-invalid", "--yes only allows; leave it out here.");
}

function isWaiting({ status }: ServerEntry): boolean {
  return status.kind === "disabled" && status.reason === "untrusted";
}

async function waitingSettings(
  { sources }: LoadedConfig,
  { decisions }: Workspace,
): Promise<WaitingSettings[]> {
  const waiting = sources.flatMap(({ file, untrustedSettings: settings }) =>
    file && settings ? [{ file, settings }] : [],
  );
  return Promise.all(
    waiting.map(async (one) => ({ ...one, review: await decisions.reviewSettings(one.settings, one.file) })),
  );
}

/** Whether settings have a bundle with the allow list of one of these servers, which is unusable without it. */
function listsTools({ settings }: WaitingSettings, entries: readonly ServerEntry[]): boolean {
  const needing = entries.filter(({ config }) => config?.untrusted && !config.tools?.allow);
  const { bundles } = settings;
  return Object.values(isRecord(bundles) ? bundles : {}).some((bundle) => {
    const { servers, tools } = isRecord(bundle) ? bundle : {};
    const allow = isRecord(tools) ? tools["allow"] : undefined;
    return (
      allow !== undefined && Array.isArray(servers) && needing.some(({ name }) => servers.includes(name))
    );
  });
}

function entryView({ entry, review }: Waiting, terminal: Terminal): string {
  const paint = painter(terminal);
  const { origin, config = {}, shadowed } = entry;
  const name = shellWord(entry.name);
  const place = describeOrigin(origin);
  const again = againView(review, terminal);
  const preview = previewText(previewServer(config, { exact: true }), { scripts: review, place }, terminal);
  const [own] = shadowed.filter((other) => other.origin.scope === "user");
  const instead = own
    ? warned("replaces", `your own server of this name in ${describeOrigin(own.origin)}`, terminal)
    : "";
  const heading = hanging(`${safe(name)}  ${safe(place)}`, 12, terminal);
  const styled = heading.startsWith(safe(name))
    ? `${paint("bold", safe(name))}${paint("dim", heading.slice(safe(name).length))}`
    : paint("bold", heading);
  return `${styled}\n${again}${instead}${preview}\n`;
}

async function ask(
  waiting: Waiting[],
  settings: WaitingSettings[],
  workspace: Workspace,
  options: TrustOptions,
  terminal: Terminal,
): Promise<void> {
  if (!options.yes && !terminal.isInteractive) {
    throw new PlugboardError("untrusted", "Cannot ask for confirmation without a terminal.", {
      hint: "Run `plugboard trust` in a terminal, or review `plugboard trust --list` and pass --yes.",
    });
  }
  const trusted: string[] = [];
  const declined: string[] = [];
  // What was allowed before stays allowed.
  const notTrusted = () =>
    trusted.length === 0 ? "Nothing was trusted." : `Trusted before that: ${trusted.join(", ")}.`;
  const decide = async (label: string, question: string, view: string, allow?: () => Promise<void>) => {
    if (!options.json) terminal.out(view);
    const isAllowed =
      allow !== undefined &&
      (options.yes || (await orCancelled(terminal.confirm(question, { word: true }), notTrusted())));
    if (isAllowed) await allow();
    else if (!allow) terminal.exitCode = 7;
    (isAllowed ? trusted : declined).push(label);
  };
  for (const one of waiting) {
    const { entry, review } = one;
    // Quoted where it could be read as words of ours; `--json` has the name itself.
    const name = safe(options.json ? entry.name : shellWord(entry.name));
    const target = previewTarget(previewServer(entry.config ?? {}, { exact: true }), review);
    const allow = review.problem === undefined ? () => workspace.trust(entry, review) : undefined;
    await decide(name, `Allow ${name} to ${target}?`, entryView(one, terminal), allow);
  }
  for (const { file, settings: values, review } of settings) {
    const label = `the settings of ${safe(file)}`;
    const view = againView(review, terminal) + settingsPreview(file, values, terminal);
    await decide(label, `Allow ${label}?`, view, () => workspace.decisions.trustSettings(values, file));
  }
  if (options.json) return terminal.out(json({ trusted, declined }));
  const paint = painter(terminal);
  if (trusted.length > 0)
    terminal.out(
      `${paint("green", "Trusted")} ${trusted.join(", ")}. You will be asked again after any change.\n`,
    );
  if (declined.length > 0) terminal.out(sentence(`Not trusted: ${declined.join(", ")}.`, terminal));
}

const reviewWords = "Run `plugboard trust` to review and allow them.";

async function list(
  names: string[],
  { waiting, settings }: { waiting: Waiting[]; settings: WaitingSettings[] },
  config: LoadedConfig,
  workspace: Workspace,
  options: TrustOptions,
  terminal: Terminal,
): Promise<void> {
  const all = await workspace.decisions.list(config, { allProjects: options.all ?? false });
  const trusted = all.filter(({ server }) => names.length === 0 || names.includes(server ?? ""));
  if (options.json) {
    const servers = waiting.map(({ entry: { name, origin, written, config: server = {} }, review }) => ({
      name,
      ...origin,
      entry: written,
      preview: previewServer(server, { exact: true }),
      ...review,
    }));
    const changed = settings.map(({ review, ...one }) => ({ ...one, ...review }));
    return terminal.out(json({ servers, settings: changed, trusted }));
  }
  for (const one of waiting) terminal.out(entryView(one, terminal));
  for (const { file, settings: values, review } of settings)
    terminal.out(againView(review, terminal) + settingsPreview(file, values, terminal));
  const isNothing = waiting.length === 0 && settings.length === 0;
  terminal.out(isNothing ? "Nothing here needs your trust.\n" : `Not trusted yet. ${reviewWords}\n`);
  if (trusted.length > 0) terminal.out("\n");
  if (trusted.length > 0) terminal.out(trustedTable(trusted, options.all ?? false, terminal));
}

async function revoke(
  names: string[],
  config: LoadedConfig,
  workspace: Workspace,
  options: TrustOptions,
  terminal: Terminal,
): Promise<void> {
  if (names.length === 0 && !options.all)
    throw new PlugboardError("usage-invalid", "--revoke requires the name of a server or a settings file.", {
      hint: "Run `plugboard trust --list` to see what you trusted. `--revoke --all` revokes everything in all projects.",
    });
  const known = await workspace.decisions.list(config, { allProjects: options.all ?? false });
  const isNamed = (name: string, { server, settings, file }: TrustedContent) =>
    server === name || (settings !== undefined && file === resolve(workspace.cwd, name));
  for (const name of names) if (!known.some((one) => isNamed(name, one))) workspace.require(config, name);
  const meant = known.filter((one) => names.length === 0 || names.some((name) => isNamed(name, one)));
  const marks = new Set(meant.map((one) => one.fingerprint));
  const contents = await workspace.decisions.revoke((one) => marks.has(one.fingerprint));
  const revoked = [...new Set(contents.map(labelOf))];
  // What was started when it was trusted must not wait for another use.
  await workspace.warm.forget({ servers: contents.flatMap(({ server }) => server ?? []) });
  if (options.json) return terminal.out(json({ revoked, contents }));
  for (const label of revoked) {
    const number = contents.filter((one) => labelOf(one) === label).length;
    const several = number > 1 ? ` (${count(number, "content")})` : "";
    terminal.out(sentence(`${safe(label)} is no longer trusted${several}.`, terminal));
  }
  for (const name of names.filter((one) => !contents.some((content) => isNamed(one, content))))
    terminal.out(sentence(`${safe(name)} was not trusted here.`, terminal));
  if (names.length + revoked.length === 0) terminal.out("Nothing was trusted.\n");
}

function labelOf({ server, file = "" }: TrustedContent): string {
  return server ?? file;
}

async function purge(
  config: LoadedConfig,
  workspace: Workspace,
  options: TrustOptions,
  terminal: Terminal,
): Promise<void> {
  const purged = await workspace.decisions.purge(config);
  if (options.json) return terminal.out(json({ purged }));
  terminal.out(
    `${purged.length === 0 ? "Nothing to forget" : `Forgot ${count(purged.length, "trusted content")}`}: what is in use stays trusted.\n`,
  );
}
