import { join } from "node:path";
import { readBoundedFile } from "../lib/bounded-file.ts";
import { isRecord } from "../lib/record.ts";
import { parseDocument } from "./documents/document.ts";
import { resolvePath } from "./expand.ts";
import { positionOf } from "./model.ts";
import type { Diagnostic, Origin } from "./model.ts";
import { checkConfig, parseConfig } from "./parse.ts";
import { maxConfigBytes, readFileSource } from "./sources.ts";
import type { ReadSource } from "./sources.ts";

/** Reads the servers in a plugin folder. `named` is the place that names the folder; its trust applies to the servers. */
export async function readPlugin(
  folder: string,
  named: Origin & { needsTrust: boolean },
  home: string,
  base: string,
): Promise<ReadSource> {
  const root = resolvePath(folder, base, home);
  const { needsTrust } = named;
  const variables = { PLUGIN_ROOT: root, CLAUDE_PLUGIN_ROOT: root };
  const direct = await readFileSource("plugin", join(root, ".mcp.json"), needsTrust);
  if (direct.state !== "missing") return { ...onlyServers(direct), variables };
  for (const name of ["plugin.json", join(".claude-plugin", "plugin.json")]) {
    const source = await readManifest(root, join(root, name), needsTrust);
    if (source) return { ...source, variables, baseDir: root };
  }
  const message = "this plugin folder has no .mcp.json or plugin.json";
  return empty(root, needsTrust, [{ severity: "warning", message, path: "plugins", ...positionOf(named) }]);
}

/** A manifest describes more than servers; only its `mcpServers` (inline, or the path of a file) is read. */
async function readManifest(
  root: string,
  file: string,
  needsTrust: boolean,
): Promise<ReadSource | undefined> {
  const read = await readBoundedFile(file, maxConfigBytes);
  if (read.kind === "missing") return undefined;
  const problem = (message: string) =>
    empty(root, needsTrust, [{ severity: "error", message, path: "", file }]);
  if (read.kind === "refused") return problem(`the file ${read.reason}`);
  const document = await parseDocument(read.text, "json");
  const servers = isRecord(document.value) ? document.value["mcpServers"] : undefined;
  if (typeof servers === "string") {
    const inside = join(root, join("/", servers));
    return onlyServers(await readFileSource("plugin", inside, needsTrust));
  }
  if (document.problems.length > 0) return problem("this is not valid JSON");
  const parsed = await parseConfig(read.text, { scope: "plugin", file });
  const aboutServers = parsed.diagnostics.filter((diagnostic) => diagnostic.server !== undefined);
  return {
    scope: "plugin",
    file,
    state: "used",
    parsed: {
      ...parsed,
      settings: {},
      settingOrigins: {},
      settingRules: {},
      bundles: [],
      diagnostics: aboutServers,
    },
    baseDir: root,
    needsTrust,
  };
}

/** A plugin may add servers, but not change settings or bundles. */
function onlyServers(source: ReadSource): ReadSource {
  return {
    ...source,
    parsed: { ...source.parsed, settings: {}, settingOrigins: {}, settingRules: {}, bundles: [] },
  };
}

function empty(root: string, needsTrust: boolean, diagnostics: Diagnostic[]): ReadSource {
  const parsed = { ...checkConfig({}), diagnostics };
  return { scope: "plugin", file: root, state: "missing", parsed, baseDir: root, needsTrust };
}
