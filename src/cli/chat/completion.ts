import type { PromptCommand } from "../../host.ts";
import type { View } from "../../index.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { printable } from "../../lib/printable.ts";
import type { Completer } from "./line-editor.ts";
import { isPromptLine } from "./prompt-line.ts";

const timeoutMs = 3_000;
const mostHits = 100;

/** Completes commands, prompts and their arguments, and mentions of resources. */
export function chatCompleter(view: View, commands: readonly string[], servers: () => string[]): Completer {
  return async (line) => {
    using deadline = startDeadline(timeoutMs);
    const [hits, part] = await completions(line, { view, commands, servers }, deadline.signal);
    // A name that has to be escaped could not be typed either.
    const typeable = [...new Set(hits)].filter((hit) => printable(hit, { oneLine: true }) === hit);
    return [typeable.sort().slice(0, mostHits), part];
  };
}

interface Known {
  view: View;
  commands: readonly string[];
  servers: () => string[];
}

async function completions(line: string, known: Known, signal: AbortSignal): Promise<[string[], string]> {
  const { view, commands, servers } = known;
  const starting = (words: string[], part: string): [string[], string] => [
    words.filter((word) => word.startsWith(part)),
    part,
  ];
  if (/^\/\S*$/.test(line)) {
    const prompts = line.includes("__")
      ? await view.commands({ signal })
      : await view.commands({ wait: false });
    return starting(
      [...commands.map((name) => `/${name} `), ...prompts.map(({ command }) => `${command} `)],
      line,
    );
  }
  if (isPromptLine(line)) return promptArguments(line, view, signal);
  const [, name] = /^\/mcp\s+\S+\s+(\S*)$/.exec(line) ?? [];
  if (name !== undefined) return starting(servers(), name);
  const [, mention] = /(?:^|[\s([{])(@\S*)$/.exec(line) ?? [];
  return mention === undefined ? [[], line] : mentions(mention, view, servers(), signal);
}

/** `/mcp__issues__summary since=2026<Tab>` */
async function promptArguments(line: string, view: View, signal: AbortSignal): Promise<[string[], string]> {
  const [typed = "", ...words] = line.split(/\s+/);
  const part = words.at(-1) ?? "";
  const prompt = (await view.commands({ signal })).find(({ command }) => command === typed);
  if (!prompt) return [[], part];
  const known = namedArguments(prompt, words.slice(0, -1));
  const split = part.indexOf("=");
  const given = split === -1 ? undefined : prompt.arguments.find(({ name }) => name === part.slice(0, split));
  const open = prompt.arguments.filter(({ name }) => !Object.hasOwn(known, name));
  const argument = given ?? open[0];
  if (!argument) return [[], part];
  const start = given ? `${given.name}=` : "";
  const value = part.slice(start.length);
  const values = await view
    .complete(prompt.server, { prompt: prompt.name }, { name: argument.name, value }, known, { signal })
    .catch(() => []);
  const hits = values.map((one) => `${start}${quoted(one)} `);
  const names = given
    ? []
    : open.map(({ name }) => `${name}=`).filter((name) => part !== "" && name.startsWith(part));
  if (hits.length === 0 && part === "") return [open.map(({ name }) => `${name}=`), part];
  return [[...hits, ...names], part];
}

export function namedArguments(
  { arguments: declared }: PromptCommand,
  words: readonly string[],
): Record<string, string> {
  const known = new Map<string, string>();
  for (const word of words) {
    const named = declared.find(({ name }) => word.startsWith(`${name}=`));
    const free = declared.find(({ name }) => !known.has(name));
    if (named) known.set(named.name, word.slice(named.name.length + 1));
    else if (free) known.set(free.name, word);
  }
  return Object.fromEntries(known);
}

/** `@files:file:///no<Tab>` */
async function mentions(
  part: string,
  view: View,
  servers: string[],
  signal: AbortSignal,
): Promise<[string[], string]> {
  const server = servers.find((name) => part.startsWith(`@${name}:`));
  if (server === undefined)
    return [servers.map((name) => `@${name}:`).filter((hit) => hit.startsWith(part)), part];
  const start = `@${server}:`;
  const typed = part.slice(start.length);
  const own = view.view({ servers: [server] });
  const [resources, templates] = await Promise.all([
    own.resources({ signal }).catch(() => []),
    own.resourceTemplates({ signal }).catch(() => []),
  ]);
  const uris = resources.flatMap(({ raw }) => (typeof raw["uri"] === "string" ? [raw["uri"]] : []));
  const filled = await Promise.all(
    templates.flatMap(({ raw }) =>
      typeof raw["uriTemplate"] === "string"
        ? [fillTemplate(raw["uriTemplate"], typed, server, own, signal)]
        : [],
    ),
  );
  const hits = [...uris.map((uri) => `${quoted(uri)} `), ...filled.flat()].map((hit) => `${start}${hit}`);
  return [hits.filter((hit) => hit.startsWith(part)), part];
}

/** The part of a template before its first variable, or the values that its server suggests for that variable. */
async function fillTemplate(
  template: string,
  typed: string,
  server: string,
  view: View,
  signal: AbortSignal,
): Promise<string[]> {
  const [, start = "", name = "", rest = ""] = /^([^{]*)\{[+#/]?(\w+)\*?\}(.*)$/.exec(template) ?? [];
  if (name === "" || !typed.startsWith(start)) return start.startsWith(typed) ? [start] : [];
  const argument = { name, value: typed.slice(start.length) };
  const values = await view.complete(server, { template }, argument, {}, { signal }).catch(() => []);
  return values.map((value) => `${start}${value}${rest === "" ? " " : rest.split("{")[0]}`);
}

function quoted(text: string): string {
  return /[\s"']/.test(text) ? JSON.stringify(text) : text;
}
