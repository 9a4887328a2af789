import { describeOrigin, lostRule } from "../config.ts";
import type { Origin, ServerEntry, Workspace, WritableScope } from "../config.ts";
import type { LoadedConfig } from "../index.ts";
import { connectServers } from "./connect-servers.ts";
import { keepSecret } from "./keep-secret.ts";
import { plainSecrets, warnOfPlainSecrets } from "./plain-secrets.ts";
import { printLines } from "./terminal/live-area.ts";
import { json, safe, screenWidth } from "./terminal/print.ts";
import { findingLines } from "./views/finding.ts";
import { describeServer, targetOf, transportOf } from "./views/server.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { withWorkspace } from "./verb.ts";
import type { CommonOptions } from "./verb.ts";
import { onlyServers } from "./with-hub.ts";

/** The value of a `${secret:NAME}` that the new entry uses. */
export interface KeptSecret {
  name: string;
  /** Absent if it is set later. */
  value?: string;
}

/** Shared by `add` and `add-json`: writes the entry, reports where it went, and offers to try it. */
export async function addServer(
  name: string,
  written: Record<string, unknown>,
  options: CommonOptions & { scope: WritableScope; force?: boolean },
  terminal: Terminal,
  secret?: KeptSecret,
): Promise<void> {
  await withWorkspace(terminal, options, async (workspace) => {
    const origin = await workspace.add(name, written, {
      scope: options.scope,
      force: options.force ?? false,
    });
    if (secret?.value !== undefined) await keepSecret(await workspace.vault(), secret.name, secret.value);
    const config = await workspace.load({ secrets: true });
    const entry = config.servers.get(name);
    const shadowing = entry && entry.origin.file !== origin.file ? entry : undefined;
    const plain = plainSecrets(name, written, origin);
    if (options.json) {
      const server = shadowing ? { name, ...shortly(written) } : entry && describeServer(entry);
      const over = shadowing && { shadowedBy: shadowing.origin };
      const secrets = plain.length > 0 && { plainSecrets: plain };
      return terminal.out(json({ added: name, ...origin, server, ...over, ...secrets }));
    }
    const { type, target } = shortly(written);
    terminal.out(
      `Added ${type} server ${safe(name)} to ${safe(describeOrigin(origin))}\n  ${safe(target)}\n`,
    );
    warnOfPlainSecrets(name, plain, origin, terminal);
    if (shadowing) return terminal.err(shadowNote(shadowing, origin));
    if (entry?.status.kind === "disabled")
      return terminal.err(`note: ${safe(entry.status.message)}. ${safe(entry.status.hint)}\n`);
    const asked = await offerToTry(name, config, workspace, terminal);
    if (!(await agreesToPassOn(name, asked, terminal))) return;
    const { inheritEnv } = written;
    const more = [...(Array.isArray(inheritEnv) ? (inheritEnv as string[]) : []), ...asked];
    await workspace.add(name, { ...written, inheritEnv: more }, { scope: options.scope, force: true });
    await tryServer(name, await workspace.load({ secrets: true }), workspace, terminal);
  });
}

function shortly(written: Record<string, unknown>): { type: string; target: string } {
  return { type: transportOf({ config: written }), target: targetOf({ written }) };
}

/** The entry that was added is not the one that is used here. */
function shadowNote({ name, origin, written }: ServerEntry, { scope }: Origin): string {
  const used = `the one in ${describeOrigin(origin)} is used: ${targetOf({ written })}`;
  const remedy = `remove that one, or choose another name for the one in the ${scope} scope`;
  return `note: ${safe(name)} is shadowed here, and ${safe(used)}. To use yours, ${safe(remedy)}.\n`;
}

/** A person who added a server wants to know whether it works. The entry stays, whatever comes of it. */
async function offerToTry(
  name: string,
  config: LoadedConfig,
  workspace: Workspace,
  terminal: Terminal,
): Promise<string[]> {
  if (!terminal.isInteractive || !terminal.ask || lostRule(config)) return [];
  const isRemote = config.servers.get(name)?.config?.url !== undefined;
  const message = `${isRemote ? "Connect to" : "Start"} ${name} now and list its tools?`;
  const question = { message, initial: true };
  const { signal } = new AbortController();
  if ((await terminal.ask.confirm(question, signal)) !== true) return [];
  return tryServer(name, config, workspace, terminal);
}

/** Returns the variables that the server asked for, that are set here, and that it did not get. */
async function tryServer(
  name: string,
  config: LoadedConfig,
  workspace: Workspace,
  terminal: Terminal,
): Promise<string[]> {
  const { findings, withheld } = await connectServers(
    workspace,
    onlyServers(config, [name]),
    { isQuiet: false },
    terminal,
  );
  const width = screenWidth(terminal);
  terminal.out(
    printLines(
      findings.flatMap((finding) => findingLines(finding, width)),
      terminal,
    ),
  );
  return withheld;
}

/** Asks once. A server only gets what a person passes on. */
async function agreesToPassOn(name: string, asked: readonly string[], terminal: Terminal): Promise<boolean> {
  if (asked.length === 0 || !terminal.ask) return false;
  const what = asked.length === 1 ? "its value" : "their values";
  const message = `Pass on ${asked.join(", ")} from your environment to ${name}? It gets ${what}.`;
  const { signal } = new AbortController();
  return (await terminal.ask.confirm({ message, initial: false }, signal)) === true;
}
