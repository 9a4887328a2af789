import { basename } from "node:path";
import { splitArgv } from "../lib/argv.ts";
import { hasInvisible } from "../lib/printable.ts";
import { looksSecret } from "../lib/secret-words.ts";
import { addressOf, hostLine } from "./address.ts";
import type { ServerConfig } from "./server-schema.ts";
import { shownEntry } from "./show/fields.ts";
import { shownArgs, shownUrl, shownWord } from "./show/references.ts";
import { referencesIn } from "./template.ts";
import type { Reference } from "./template.ts";
import { runsTasks } from "./trust/launchers.ts";
import { decidesWhatRuns } from "./trust/loader-variables.ts";
import { commandWordsIn } from "./trust/named-words.ts";
import { unpinnedPackage } from "./unpinned-package.ts";

/** Everything that an entry runs, sends and reads, for a person who decides about it. */
export interface Preview {
  /** The program alone. */
  program?: string;
  args?: string[];
  /** The working folder, if the entry chooses one. */
  folder?: string;
  /** The host that the URL really leads to. */
  host?: string;
  url?: string;
  headers: Record<string, string>;
  env: Record<string, string>;
  /** Further commands that run, to get headers or values, and where the entry names them. */
  commands: { field: string; command: string[] }[];
  /** Your own variables, secrets and files that it gets. */
  variables: string[];
  secrets: string[];
  files: string[];
  /** The other fields. */
  more: Record<string, unknown>;
  /** Packages that are downloaded in their newest version, unless they are installed in the project. */
  unpinned: string[];
  /** What is unusual and worth a second look. */
  warnings: string[];
}

/**
 * Shows what an entry would do. `exact` shows every value as it is written; otherwise those that may be secrets are
 * hidden.
 */
export function previewServer(config: ServerConfig, { exact }: { exact: boolean }): Preview {
  const shown = exact ? config : (shownEntry({ written: config }) as ServerConfig);
  const { command, args, cwd, url, headers = {}, env = {}, headersHelper: _, ...more } = shown;
  const isWord = config.command !== undefined && !/\s/.test(config.command);
  const { variables, secrets, files } = readsOf(config);
  return {
    ...(command !== undefined && { program: isWord ? (config.command ?? command) : command }),
    ...(args !== undefined && { args }),
    ...(cwd !== undefined && { folder: cwd }),
    ...(config.url !== undefined && { host: hostLine(addressOf(config.url)) }),
    ...(url !== undefined && { url }),
    headers,
    env: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, shownVariable(name, value, config.env?.[name])]),
    ),
    commands: commandsOf(config).map(({ field, command: words }) => ({
      field,
      command: exact ? words : shownArgs(words),
    })),
    variables,
    secrets,
    files,
    more,
    unpinned: unpinnedIn(config),
    warnings: warningsOf(config),
  };
}

/** A variable that decides what runs is always shown with its value. */
function shownVariable(name: string, shown: string, written: string | undefined): string {
  if (written === undefined || !decidesWhatRuns(name) || looksSecret(name)) return shown;
  return written.includes("://") ? shownUrl(written) : written;
}

function commandsOf(config: ServerConfig): Preview["commands"] {
  const { headersHelper = [] } = config;
  const helper = typeof headersHelper === "string" ? [headersHelper] : headersHelper;
  const inValues = referencesOf(config).flatMap(({ field, reference }) =>
    reference.kind === "cmd" ? [{ field, command: splitArgv(reference.name) }] : [],
  );
  return [...(helper.length > 0 ? [{ field: "headersHelper", command: helper }] : []), ...inValues];
}

function unpinnedIn(config: ServerConfig): string[] {
  const { command = "", args = [] } = config;
  const lines = [[command, ...args], ...commandsOf(config).map((one) => one.command)];
  return [...new Set(lines.flatMap((line) => unpinnedPackage(line) ?? []))].map((name) => shownWord(name));
}

function readsOf(config: ServerConfig): Pick<Preview, "variables" | "secrets" | "files"> {
  const { inheritEnv = [], bearerTokenEnv, headersFromEnv = {} } = config;
  const references = referencesOf(config).map(({ reference }) => reference);
  const named = (kind: Reference["kind"]) =>
    references.filter((reference) => reference.kind === kind).map(({ name }) => name);
  const own = [...inheritEnv, ...(bearerTokenEnv ? [bearerTokenEnv] : []), ...Object.values(headersFromEnv)];
  const unique = (names: string[]) => [...new Set(names)];
  return {
    variables: unique([...named("env"), ...own]),
    secrets: unique(named("secret")),
    files: unique(named("file")),
  };
}

interface Found {
  field: string;
  reference: Reference;
}

function referencesOf({ command, args, env, url, headers, cwd, oauth, network }: ServerConfig): Found[] {
  const search = (value: unknown, field: string): Found[] => {
    if (typeof value === "string") return referencesIn(value).map((reference) => ({ field, reference }));
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, member]) =>
      search(member, Array.isArray(value) ? `${field}[${key}]` : `${field}.${key}`),
    );
  };
  return Object.entries({ command, args, env, url, headers, cwd, oauth, network }).flatMap(([field, value]) =>
    search(value, field),
  );
}

const riskPatterns: [RegExp, string][] = [
  [/\bsudo\b|\bdoas\b/, "runs with elevated privileges"],
  [/\brm\b[^"]*-[a-z]*[rf]/, "deletes files"],
  [/\b(curl|wget|nc|ncat)\b/, "transfers data over the network"],
  [
    /\b(ba|z|da|k)?sh -\w*c\b|\b(node|deno|bun|npx) (-e|-p|-c|--eval|--call)\b|\bpython3? -c\b/,
    "runs a script given on its command line",
  ],
  [/\.ssh|\.aws|\.gnupg|\.netrc|id_rsa|\.kube/, "refers to a place where credentials are stored"],
];

function warningsOf(config: ServerConfig): string[] {
  const { command, args = [], url, env = {}, approval, inheritEnv = [], network = {}, tools } = config;
  const commands = commandsOf(config);
  const lines = [[command ?? "", ...args], ...commands.map((one) => one.command)];
  const text = [...lines.map((words) => words.join(" ")), JSON.stringify(config)].join("\n");
  const loading = Object.keys(env).filter(decidesWhatRuns);
  const modes =
    typeof approval === "object"
      ? [
          approval.default,
          ...Object.values(approval.tools ?? {}),
          ...(approval.rules ?? []).map((rule) => rule.mode),
        ]
      : [approval];
  const { proxy = "none", ca } = network;
  const tasks = lines.some((line) => runsTasks(commandWordsIn(line)));
  const odd = [...new Set(basename(command ?? "").match(/[^\x20-\x7e]/gu))];
  const isHidden = [...lines.flat(), ...Object.entries(env).flat()].some(hasInvisible);
  const found: [boolean, string][] = [
    [commands.some(({ field }) => field !== "headersHelper"), "runs a command to get a value"],
    [commands.some(({ field }) => field === "headersHelper"), "runs a command to get headers"],
    [loading.length > 0, `${loading.join(", ")} can change what runs or where it connects to`],
    [inheritEnv.length > 0, `gets variables of your own environment: ${inheritEnv.join(", ")}`],
    [
      odd.length > 0,
      `the program's name uses letters that can look like others: ${odd.map(codePoint).join(", ")}`,
    ],
    [isHidden, "contains control or invisible characters, which are shown as \\n, \\t or \\u{…}"],
    [tasks, "runs a task of the project: what the task starts can change without asking you again"],
    [proxy !== "none", `sends everything through ${hostLine(addressOf(proxy))}`],
    [ca !== undefined, "trusts certificates of an authority of its own choice"],
    [modes.includes("approve"), "lets tools be called without asking you"],
    [tools?.annotations !== undefined, "decides itself which tools count as harmless"],
  ];
  return [
    ...(url === undefined ? [] : addressOf(url).deceptions),
    ...riskPatterns.filter(([sign]) => sign.test(text)).map(([, words]) => words),
    ...found.filter(([isTrue]) => isTrue).map(([, words]) => words),
  ];
}

function codePoint(letter: string): string {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
