import { dirname, resolve } from "node:path";
import { PlugboardError } from "../errors.ts";
import { readBoundedFile } from "../lib/bounded-file.ts";
import type { Environment, Folders } from "../lib/folders.ts";
import { isOfProject } from "../lib/folders.ts";
import { printable } from "../lib/printable.ts";
import { candidateFiles, leavesProject } from "./discover.ts";
import { syntaxOf } from "./documents/document.ts";
import type { Diagnostic, Scope, Source } from "./model.ts";
import { checkConfig, parseConfig } from "./parse.ts";
import type { ParsedConfig } from "./parse.ts";

export const maxConfigBytes = 1_000_000;

/** One source of configuration and its parsed content. */
export interface ReadSource extends Source {
  parsed: ParsedConfig;
  baseDir: string;
  needsTrust: boolean;
  /** A project's settings and bundles that were dropped because they are not trusted yet. */
  untrustedSettings?: Record<string, unknown>;
  /** Variables that exist only for entries of this source, such as PLUGIN_ROOT. */
  variables?: Record<string, string>;
}

export interface SourceOptions {
  cwd: string;
  env: Environment;
  folders: Folders;
  projectRoot: string;
  path?: string | undefined;
  allowMissing?: boolean | undefined;
  overrides?: unknown;
}

/** Reads all sources, highest precedence first. */
export async function readSources(options: SourceOptions): Promise<ReadSource[]> {
  const { cwd, env } = options;
  const sources: ReadSource[] = [];
  if (options.overrides !== undefined) sources.push(await readValue("override", options.overrides, cwd));
  const inline = env["PLUGBOARD_CONFIG_JSON"];
  if (inline) sources.push(await readValue("inline", inline, cwd));
  const named = namedFile(options);
  if (named === undefined) sources.push(...(await readDiscovered(options)));
  else sources.push(await readExplicit(named, options));
  return sources;
}

/** The one file to read and to write, if the caller or the environment names one. */
export function namedFile({
  path,
  env,
  cwd,
}: Pick<SourceOptions, "path" | "env" | "cwd">): string | undefined {
  const named = path ?? (env["PLUGBOARD_CONFIG"] || undefined);
  return named === undefined ? undefined : resolve(cwd, named);
}

async function readValue(scope: Scope, value: unknown, baseDir: string): Promise<ReadSource> {
  const file = scope === "inline" ? { file: "PLUGBOARD_CONFIG_JSON" } : {};
  const parsed = await parseConfig(value, { scope, ...file });
  return { scope, ...file, state: "used", parsed, baseDir, needsTrust: false };
}

/**
 * A file that was named explicitly must exist and be readable; a typo must not silently mean "no servers". The project
 * may have set the variable (an editor setting, direnv), so a file inside the project that it names still needs trust.
 */
async function readExplicit(
  file: string,
  { path, projectRoot, folders, allowMissing = false }: SourceOptions,
): Promise<ReadSource> {
  const needsTrust = path === undefined && isOfProject(projectRoot, folders.home, file);
  const source = await readFileSource("explicit", file, needsTrust);
  const shown = printable(file, { oneLine: true });
  if (source.state === "missing" && !allowMissing) {
    throw new PlugboardError("config-unreadable", `File not found: ${shown}.`, { data: { file } });
  }
  if (source.state === "refused") {
    throw new PlugboardError("config-unreadable", `${shown} ${source.reason}.`, { data: { file } });
  }
  return source;
}

async function readDiscovered({ cwd, projectRoot, folders }: SourceOptions): Promise<ReadSource[]> {
  return Promise.all(
    candidateFiles(cwd, projectRoot, folders).map(async ({ scope, file }) => {
      if (scope === "project" && leavesProject(file, projectRoot)) {
        return refusedSource(
          scope,
          file,
          "is a symbolic link to a file outside the project, so it is not read",
          true,
        );
      }
      const baseDir = scope === "local" ? projectRoot : dirname(file);
      return { ...(await readFileSource(scope, file, scope === "project")), baseDir };
    }),
  );
}

export async function readFileSource(scope: Scope, file: string, needsTrust: boolean): Promise<ReadSource> {
  const read = await readBoundedFile(file, maxConfigBytes);
  const baseDir = dirname(file);
  if (read.kind === "missing") {
    return { scope, file, state: "missing", parsed: checkConfig({}), baseDir, needsTrust };
  }
  if (read.kind === "refused") return refusedSource(scope, file, read.reason, needsTrust);
  const syntax = syntaxOf(file);
  if (!syntax)
    return refusedSource(
      scope,
      file,
      "has an unknown file extension; use .json, .jsonc, .toml or .yaml",
      needsTrust,
    );
  const parsed = await parseConfig(read.text, { scope, file, syntax });
  return { scope, file, state: "used", parsed, baseDir, needsTrust };
}

function refusedSource(scope: Scope, file: string, reason: string, needsTrust: boolean): ReadSource {
  const diagnostic: Diagnostic = { severity: "error", message: `the file ${reason}`, path: "", file };
  const parsed = { ...checkConfig({}), diagnostics: [diagnostic], readable: false };
  return { scope, file, state: "refused", reason, parsed, baseDir: dirname(file), needsTrust };
}
