import { basename } from "node:path";
import { splitArgv } from "../../lib/argv.ts";
import type { Environment } from "../../lib/folders.ts";
import { resolvePath } from "../expand.ts";
import type { ServerEntry } from "../model.ts";
import type { ServerConfig } from "../server-schema.ts";
import { parseTemplate, referencesIn } from "../template.ts";
import { launcherFiles } from "./launchers.ts";
import { decidesWhatRuns } from "./loader-variables.ts";

/** Words that belong together: a command line, or a variable's value. */
export interface NamedLine {
  words: NamedWord[];
  /** The folder that relative paths start from. */
  folder: string;
}

/** A word of an entry that may name a file which runs. */
export interface NamedWord {
  text: string;
  /** It is run whatever it is called; other words count only if they do not look like data. */
  isCode: boolean;
  /** A program without a path is looked up in PATH. */
  isProgram: boolean;
}

export interface NamedIn {
  env: Environment;
  home: string;
  /** Where a server without `cwd` runs. */
  folder: string;
}

type Entry = Pick<ServerEntry, "config" | "baseDir" | "variables">;

/**
 * Everything in an entry that may name a file to run: its command line, the helper for headers, the commands and
 * files of references, and its environment. Fills in variables; other references are left out, as nothing is looked up.
 */
export function namedLines(entry: Entry, { env, home, folder }: NamedIn): NamedLine[] {
  const { config = {}, baseDir, variables } = entry;
  const fill = (text: string) => filled(text, { ...env, ...variables });
  const { command, args = [], headersHelper, cwd } = config;
  const own = cwd === undefined ? folder : resolvePath(fill(cwd) ?? "", baseDir, home);
  const helper = typeof headersHelper === "string" ? [headersHelper] : (headersHelper ?? []);
  const lines = [
    { words: command === undefined ? [] : [command, ...args].map(fill), folder: own, env: config.env },
    { words: helper, folder },
    ...commandsIn(config).map((line) => ({ words: splitArgv(line), folder: baseDir })),
  ];
  const searched = (variables: ServerConfig["env"] = {}) =>
    Object.entries(variables).flatMap(([name, value]) =>
      searchedFolders.test(name) ? [...(fill(value) ?? "").split(/[:;]/), ...loadedAtStart] : [],
    );
  return [
    ...lines.map(({ words, folder: at, env: variables }) => ({
      words: [
        ...searched(variables).map((text) => word(text, true)),
        ...lineWords(words),
        ...launcherFiles(commandWordsIn(words), at, home).map((text) => word(text, true)),
      ],
      folder: at,
    })),
    ...[...contentsIn(config), ...certificatesIn(config).map((path) => fill(path) ?? "")].map((text) => ({
      words: [word(text, true)],
      folder: baseDir,
    })),
    ...Object.entries(config.env ?? {}).map(([name, value]) => ({
      words: pieces(fill(value) ?? "").map((text) => word(text, decidesWhatRuns(name))),
      folder: own,
    })),
  ];
}

/** Modules are also looked for in these folders, and Python loads two of them at every start. */
const searchedFolders = /^(?:PYTHONPATH|NODE_PATH)$/i;
const loadedAtStart = ["sitecustomize.py", "usercustomize.py"];

/** The PATH in which a server's program is looked up, and whether the entry chose it. */
export function searchedPath(
  { config, variables }: Entry,
  env: Environment,
): { path: string; isOwn: boolean } {
  const own = config?.env?.["PATH"];
  if (own === undefined) return { path: env["PATH"] ?? "", isOwn: false };
  return { path: filled(own, { ...env, ...variables }) ?? "", isOwn: true };
}

/** The words of a line, and those of scripts in it. */
export function commandWordsIn(words: readonly (string | undefined)[]): string[] {
  return words.flatMap((text = "") => (/\s/.test(text) ? pieces(text) : [text]));
}

function lineWords(words: readonly (string | undefined)[]): NamedWord[] {
  let interpreter = "";
  let before = "";
  return words.flatMap((text = "", index) => {
    const name = basename(text);
    const starts = interpreters.test(name);
    const isCode = index === 0 || starts || interpreter !== "";
    if (starts) interpreter = name;
    else if (endsOptions(text, before, interpreter)) interpreter = "";
    const named = [...pieces(text), ...modulesIn(text, before)];
    before = text;
    const found = named.map((piece) => word(piece, isCode));
    return index === 0 ? [{ ...word(text, true), isProgram: true }, ...found] : found;
  });
}

const interpreters =
  /^(?:node(?:js)?|deno|bunx?|npx|uvx|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua(?:jit)?|(?:ba|z|da|k|fi)?sh|pwsh|powershell|cmd|osascript|rscript|java|julia|escript|dotnet|mono|wasmtime|wasmer|env|nice|ionice|timeout|nohup|setsid|stdbuf|time|xargs|exec|sudo|doas)(?:\.exe|\.cmd)?$/i;
const loadingOptions =
  /^(?:-r|-c|-f|-p|-jar|-cp|--(?:require|import|(?:experimental-)?loader|env-file|config|from|with|package))$/;
const packageRunners = /^(?:bunx|npx|uvx)\b/i;
/** `deno run`, `env A=1`, `timeout 5` */
const beforeScripts = /^(?:run|exec|x|tool|serve|eval|\w+=.*|[\d.]+[smhd]?)$/s;

/** True for an interpreter's script: its own options come before it, and what follows is the script's. */
function endsOptions(text: string, before: string, interpreter: string): boolean {
  if (text.startsWith("-") || loadingOptions.test(before)) return false;
  if (packageRunners.test(interpreter)) return true;
  // The value of an option that we do not know, or a script after an option that has no value.
  if (before.startsWith("-"))
    return /^[a-z]{2,}:|\.(?:[cm]?[jt]sx?|py|rb|pl|php|lua|(?:ba|z)?sh|ps1|jar|dll|wasm)$/i.test(text);
  return !beforeScripts.test(text);
}

/** `python -m app.server`, `python -uBmapp`, and `python -c 'import app'`. */
function modulesIn(text: string, before: string): string[] {
  const [, joined] = /^-[A-Za-z]*m([A-Za-z_][\w.]*)$/.exec(text) ?? [];
  if (joined !== undefined) return moduleFiles(joined);
  if (/^-[A-Za-z]*m$/.test(before)) return moduleFiles(text);
  if (!/^-[A-Za-z]*c$/.test(before) || !/\b(?:import|run_module)\b/.test(text)) return [];
  return pieces(text)
    .filter((one) => /^[A-Za-z_][\w.]*$/.test(one))
    .flatMap(moduleFiles);
}

function moduleFiles(name: string): string[] {
  const parts = name.split(".").slice(0, 16);
  const path = parts.join("/");
  const packages = parts.map((_, index) => `${parts.slice(0, index + 1).join("/")}/__init__.py`);
  return [`${path}.py`, `${path}/__main__.py`, ...packages];
}

/** A word, the words of a script in it, the value of `--option=value` or `-ovalue`, and the parts of a list. */
function pieces(text: string): string[] {
  const words = /[\s"']/.test(text) ? [text, ...splitArgv(text)] : [text];
  const values = words.flatMap((one) => {
    const [, joined = one.slice(one.indexOf("=") + 1)] = /^-[A-Za-z]([^=]+)$/.exec(one) ?? [];
    return joined === one ? [one] : [one, joined];
  });
  const all = [...values, ...(delimiters.test(text) ? text.split(delimiters) : [])].filter(
    (one) => one !== "",
  );
  // A folder counts for the words after it, so the first and the last of the same words matter, and no others.
  const last = new Map(all.map((one, index) => [one, index]));
  const seen = new Set<string>();
  return all.filter((one, index) => {
    const isFirst = !seen.has(one);
    seen.add(one);
    return isFirst || last.get(one) === index;
  });
}

/** What separates words in shells, in programs and in lists such as `./srv.sh:/srv.sh` or `src=./srv.sh,dst=/srv.sh`. */
const delimiters = /[\s"'`;|&<>(){}[\],=:$@!]+/;

function word(text: string, isCode: boolean): NamedWord {
  return { text, isCode, isProgram: false };
}

function commandsIn({ command, args, env, url, headers, cwd, oauth, network }: ServerConfig): string[] {
  return textsIn([command, args, env, url, headers, cwd, oauth, network])
    .flatMap(referencesIn)
    .flatMap(({ kind, name }) => (kind === "cmd" ? [name] : []));
}

/** Files whose content becomes part of a command line, a URL or what a program loads. */
function contentsIn({ command, args, cwd, url, env = {} }: ServerConfig): string[] {
  const loading = Object.entries(env).flatMap(([name, value]) => (decidesWhatRuns(name) ? [value] : []));
  return textsIn([command, args, cwd, url, loading])
    .flatMap(referencesIn)
    .flatMap(({ kind, name }) => (kind === "file" ? [name] : []));
}

/** Whoever can replace them decides which server is believed to be the right one. */
function certificatesIn({ network: { ca } = {} }: ServerConfig): string[] {
  return ca === undefined ? [] : [ca];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The text with its variables; undefined if something else has to be looked up. */
export function filled(text: string, env: Environment): string | undefined {
  let all = "";
  for (const part of parseTemplate(text)) {
    if (typeof part !== "string" && part.kind !== "env") return undefined;
    const value = typeof part === "string" ? part : env[part.name] || filled(part.fallback ?? "", env);
    if (value === undefined) return undefined;
    all += value;
  }
  return all;
}
