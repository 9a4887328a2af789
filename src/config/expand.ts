import { isAbsolute, join, resolve } from "node:path";
import { missingValues } from "./missing-values.ts";
import type { MissingValue } from "./missing-values.ts";
import { PlugboardError } from "../errors.ts";
import { splitArgv } from "../lib/argv.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import type { Environment } from "../lib/folders.ts";
import { defined, own } from "../lib/record.ts";
import { isPublicVariable } from "../lib/secret-words.ts";
import type { ServerEntry } from "./model.ts";
import type { ServerConfig } from "./server-schema.ts";
import { shownReference } from "./show/references.ts";
import { parseTemplate, referencesIn } from "./template.ts";
import type { Reference, Template } from "./template.ts";

/** Looks up a secret by name. */
export type SecretSource = (name: string) => Promise<string | undefined>;

export interface ValueSources {
  env: Environment;
  secrets: SecretSource;
  home: string;
  signal?: AbortSignal | undefined;
}

export interface Expanded {
  config: ServerConfig;
  /** Values that must never be shown: everything that came from a secret, a file, a command or a variable. */
  sensitive: string[];
}

/**
 * Replaces references with their values, in memory, just before the server is used. If a value is missing, it
 * throws an error that names the reference, the field and the file, and never shows the other values. `judge` gets the
 * fields that say what is run or contacted as soon as they are known, and throws if that is not allowed; no other value
 * is looked up before.
 */
export async function expandServer(
  entry: ServerEntry,
  sources: ValueSources,
  judge?: (config: ServerConfig) => void,
): Promise<Expanded> {
  const { config, name } = entry;
  if (!config)
    throw new PlugboardError("config-invalid", `The configuration of server "${name}" has mistakes.`, {
      server: name,
    });
  const sensitive: string[] = [];
  const missing: MissingValue[] = [];
  const lookUp = createLookUp(entry, sources, sensitive);
  const fill = async (text: string, field: string): Promise<string> => {
    try {
      return await render(parseTemplate(text), lookUp);
    } catch (error) {
      if (!(error instanceof MissingReference)) throw error;
      missing.push({ reference: shownReference(error.reference), field });
      return "";
    }
  };
  const expandFields = async (fields: ServerConfig): Promise<ServerConfig> => {
    const expanded: ServerConfig = {};
    for (const [field, value] of expandedFields(fields))
      Object.assign(expanded, { [field]: await mapTexts(value, field, fill) });
    return expanded;
  };
  const identity = await expandFields(identityOf(config));
  if (identity.cwd !== undefined) identity.cwd = resolvePath(identity.cwd, entry.baseDir, sources.home);
  if (missing.length > 0) throw missingValues(entry, [...missing, ...missingVariables(entry, sources.env)]);
  judge?.({ ...config, ...identity, env: { ...config.env, ...identity.env } });
  const rest = await expandFields(withoutIdentity(config));
  if (missing.length > 0) throw missingValues(entry, missing);
  if (rest.network)
    rest.network = withPaths(rest.network, (path) => resolvePath(path, entry.baseDir, sources.home));
  const env = config.env && { env: { ...rest.env, ...identity.env } };
  const expanded: ServerConfig = { ...config, ...rest, ...identity, ...env };
  return { config: expanded, sensitive: sensitive.filter((value) => value.length >= 4) };
}

/** The same for texts that belong to no server. `what` names their field in errors. */
export async function expandTexts<T extends Record<string, string>>(
  texts: T,
  what: string,
  sources: ValueSources,
): Promise<T> {
  const entry = { name: what, baseDir: sources.home } as ServerEntry;
  const lookUp = createLookUp(entry, sources, []);
  const fill = async (field: string, text: string): Promise<[string, string]> => {
    try {
      return [field, await render(parseTemplate(text), lookUp)];
    } catch (error) {
      if (!(error instanceof MissingReference)) throw error;
      const message = `${what}.${field} needs ${shownReference(error.reference)}, which is not set.`;
      throw new PlugboardError("value-missing", message);
    }
  };
  const filled = Object.entries(texts).map(([field, text]) => fill(field, text));
  return Object.fromEntries(await Promise.all(filled)) as T;
}

/** The files of `network` are relative to the configuration, like `cwd`. */
function withPaths({ proxy, ...files }: Network, toPath: (path: string) => string): Network {
  const paths = Object.entries(files).map(([name, path]) => [name, path && toPath(path)]);
  return { ...defined({ proxy }), ...(Object.fromEntries(paths) as Omit<Network, "proxy">) };
}

type Network = NonNullable<ServerConfig["network"]>;

/** Finds variables that are not set and have no default, without looking up secrets, running commands or reading files. */
export function missingVariables(entry: ServerEntry, env: Environment): MissingValue[] {
  const { bearerTokenEnv, headersFromEnv = {}, isolation } = entry.config ?? {};
  const known = (name: string) =>
    own(env, name) !== undefined ||
    own(entry.variables, name) !== undefined ||
    // Set when a connection is made for a project.
    (name === "PROJECT_ROOT" && isolation === "project");
  const forHeaders = Object.entries(headersFromEnv).map(([header, name]) => ({
    field: `headersFromEnv.${header}`,
    isMissing: own(env, name) === undefined,
    name,
  }));
  const forToken =
    bearerTokenEnv === undefined
      ? []
      : [{ field: "bearerTokenEnv", isMissing: !own(env, bearerTokenEnv), name: bearerTokenEnv }];
  return [
    ...neededReferences(entry)
      .filter(({ reference: { kind, name } }) => kind === "env" && !known(name))
      .map(({ reference, field }) => ({ reference: shownReference(reference), field })),
    ...[...forHeaders, ...forToken]
      .filter(({ isMissing }) => isMissing)
      .map(({ field, name }) => ({ reference: shownReference({ kind: "env", name }), field })),
  ];
}

/** Finds secrets that are not set and have no default. One that cannot be looked up may be set, so it is not missing. */
export async function missingSecrets(entry: ServerEntry, secrets: SecretSource): Promise<MissingValue[]> {
  const needed = neededReferences(entry).filter(({ reference }) => reference.kind === "secret");
  const found = await Promise.all(
    needed.map(async ({ reference, field }) => {
      const value = await secrets(reference.name).catch(() => "");
      return value === undefined ? [{ reference: shownReference(reference), field }] : [];
    }),
  );
  return found.flat();
}

/** The references without a default, and the field of each. */
function neededReferences({ config = {} }: Pick<ServerEntry, "config">) {
  return expandedFields(config)
    .flatMap(([field, value]) => textsIn(value, field))
    .flatMap(([field, text]) =>
      parseTemplate(text).flatMap((part) =>
        typeof part === "string" || part.fallback !== undefined ? [] : [{ reference: part, field }],
      ),
    );
}

function textsIn(value: unknown, field: string): [string, string][] {
  if (typeof value === "string") return [[field, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => textsIn(member, `${field}.${key}`));
}

/** True if any string in the value contains a reference. */
export function hasReferences(value: unknown): boolean {
  return referenceKinds(value).size > 0;
}

export function referenceKinds(value: unknown): Set<Reference["kind"]> {
  return new Set(textsIn(value, "").flatMap(([, text]) => referencesIn(text).map(({ kind }) => kind)));
}

/** The fields that say what is run or contacted. */
export function identityOf({ command, args, url, cwd, env }: ServerConfig): ServerConfig {
  const path = own(env, "PATH");
  return defined({ command, args, url, cwd, env: path === undefined ? undefined : { PATH: path } });
}

function withoutIdentity(config: ServerConfig): ServerConfig {
  const { command: _c, args: _a, url: _u, cwd: _w, env, ...rest } = config;
  const { PATH: _p, ...others } = env ?? {};
  return { ...rest, ...(env && { env: others }) };
}

function expandedFields(config: ServerConfig): [string, unknown][] {
  const { command, args, env, url, headers, cwd, oauth, network } = config;
  return Object.entries({ command, args, env, url, headers, cwd, oauth, network }).filter(
    ([, value]) => value !== undefined,
  );
}

async function mapTexts(
  value: unknown,
  field: string,
  map: (text: string, field: string) => Promise<string>,
): Promise<unknown> {
  if (typeof value === "string") return map(value, field);
  if (Array.isArray(value)) {
    return Promise.all(value.map((item, index) => mapTexts(item, `${field}[${index}]`, map)));
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(
    async ([key, member]) => [key, await mapTexts(member, `${field}.${key}`, map)] as const,
  );
  return Object.fromEntries(await Promise.all(members));
}

class MissingReference extends Error {
  readonly reference: Reference;
  constructor(reference: Reference) {
    super("missing");
    this.reference = reference;
  }
}

type LookUp = (reference: Reference) => Promise<string | undefined>;

async function render(template: Template, lookUp: LookUp): Promise<string> {
  let text = "";
  for (const part of template) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = await lookUp(part);
    const isEmpty = value === undefined || (value === "" && part.fallback !== undefined);
    if (isEmpty && part.fallback === undefined) throw new MissingReference(part);
    text += isEmpty ? await render(parseTemplate(part.fallback ?? ""), lookUp) : value;
  }
  return text;
}

function createLookUp(entry: ServerEntry, sources: ValueSources, sensitive: string[]): LookUp {
  return async (reference) => {
    const ours = reference.kind === "env" ? own(entry.variables, reference.name) : undefined;
    const value = ours ?? (await valueOf(reference, entry, sources));
    const isPublic = reference.kind === "env" && isPublicVariable(reference.name);
    if (ours === undefined && value !== undefined && !isPublic) sensitive.push(value);
    return value;
  };
}

async function valueOf({ kind, name }: Reference, entry: ServerEntry, sources: ValueSources) {
  switch (kind) {
    case "env":
      return own(sources.env, name);
    case "secret":
      return sources.secrets(name);
    case "file":
      return fileValue(resolvePath(name, entry.baseDir, sources.home));
    case "cmd":
      return commandValue(name, entry, sources);
  }
}

async function fileValue(path: string): Promise<string | undefined> {
  const read = await readBoundedFile(path, 65_536);
  return read.kind === "text" ? read.text.replace(/\r?\n$/, "") : undefined;
}

const commandTimeoutMs = 10_000;

/** Runs a command without a shell. Its stdout is the value; its stderr may contain a secret and is never shown. */
async function commandValue(
  line: string,
  entry: ServerEntry,
  { env, home, signal }: ValueSources,
): Promise<string> {
  const [command, ...args] = splitArgv(line);
  const failed = (why: string) =>
    new PlugboardError(
      "value-missing",
      `Server "${entry.name}": ${shownReference({ kind: "cmd", name: line })} ${why}.`,
      {
        server: entry.name,
        hint: "Run the command by hand to see what it prints.",
      },
    );
  if (!command) throw failed("does not name a command");
  // Loaded lazily: most runs of the command line never need it, and all of them have to start fast.
  const { execFile } = await import("node:child_process");
  const { promise, resolve: succeed, reject: fail } = Promise.withResolvers<string>();
  const options = {
    cwd: entry.baseDir,
    env: { HOME: home, ...env },
    timeout: commandTimeoutMs,
    killSignal: "SIGKILL" as const,
  };
  execFile(command, args, { ...options, maxBuffer: 65_536, signal }, (error, stdout) => {
    if (!error) return succeed(stdout.replace(/\r?\n$/, ""));
    if (error.code === "ENOENT") return fail(failed("was not found"));
    fail(
      failed(error.killed ? `took longer than ${commandTimeoutMs / 1000} s` : `failed (exit ${error.code})`),
    );
  });
  return promise;
}

export function resolvePath(path: string, base: string, home: string): string {
  const expanded = path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
  return isAbsolute(expanded) ? expanded : resolve(base, expanded);
}
