import { hasInvisible } from "../lib/printable.ts";
import { isRecord } from "../lib/record.ts";
import { checkServer, isNote } from "./check-server.ts";
import { overruledRules } from "./approval/mistakes.ts";
import { brief, check, countedFindings, ownMistake, unknownKey } from "./diagnose.ts";
import type { Finding } from "./diagnose.ts";
import { findSpan, formatPath, parseDocument, positionsIn } from "./documents/document.ts";
import type { ConfigDocument, Path, SyntaxName } from "./documents/document.ts";
import { positionOf } from "./model.ts";
import type { BundleEntry, Diagnostic, Origin, Scope } from "./model.ts";
import { bundleSchema, configSchema, settingsSchema } from "./schema.ts";
import type { Settings } from "./schema.ts";
import type { ServerConfig } from "./server-schema.ts";

/** One parsed configuration. Each server is checked separately, so a mistake in one does not affect the others. */
export interface ParsedConfig {
  servers: ParsedServer[];
  bundles: BundleEntry[];
  settings: Settings;
  settingOrigins: Record<string, Origin>;
  settingRules: Record<string, Origin>;
  /** All diagnostics, including those of the servers and bundles. */
  diagnostics: Diagnostic[];
  /** False if the text is not a configuration at all. */
  readable: boolean;
}

/** One server of a parsed configuration. */
export interface ParsedServer {
  name: string;
  config?: ServerConfig;
  written: unknown;
  origin: Origin;
  fields: Record<string, Origin>;
  rules: Record<string, Origin>;
  diagnostics: Diagnostic[];
}

/** What is known about a text that is parsed. */
export interface ParseOptions {
  scope?: Scope;
  /** Named in origins and diagnostics. */
  file?: string;
  /** The syntax of a text; JSON with comments by default. */
  syntax?: SyntaxName;
}

/** Parses a configuration given as text or as an object. Mistakes in it become diagnostics; they never throw. */
export async function parseConfig(input: unknown, options: ParseOptions = {}): Promise<ParsedConfig> {
  if (typeof input !== "string") return checkConfig(input, options);
  return interpret(await parseDocument(input, options.syntax ?? "json"), input, options);
}

/** The same as `parseConfig`, for a value that is already parsed. */
export function checkConfig(value: unknown, options: ParseOptions = {}): ParsedConfig {
  return interpret({ value, problems: [] }, "", options);
}

function interpret(document: ConfigDocument, text: string, options: ParseOptions): ParsedConfig {
  const place = createPlace(document, text, options);
  const problems = document.problems.map((problem) =>
    place.problem(problem.message, problem.offset, problem.path),
  );
  const root = document.value;
  const fatal = document.problems.some(({ path }) => path === undefined || !isInsideServer(path));
  const empty = {
    servers: [],
    bundles: [],
    settings: {},
    settingOrigins: {},
    settingRules: {},
    readable: false,
  };
  if (fatal) return { ...empty, diagnostics: problems };
  if (!isRecord(root)) {
    return {
      ...empty,
      diagnostics: [place.diagnostic({ severity: "error", path: [], message: "expected an object" })],
    };
  }
  const servers = containersOf(root).flatMap(([key, container]) =>
    readServers(key, container, problems, place),
  );
  const containers = containersOf(root).filter(([, container]) => !isRecord(container));
  const misshapen = containers.map(([key]) =>
    place.diagnostic({ severity: "error", path: [key], message: "expected an object" }),
  );
  const bundles = readBundles(root["bundles"], place);
  const { findings, ...ofSettings } = readSettings(root, place);
  const own = [...servers, ...bundles.entries].flatMap((entry) => entry.diagnostics);
  const diagnostics = [
    ...misshapen,
    ...own,
    ...[...bundles.findings, ...countedFindings(findings, [])].map(place.diagnostic),
  ];
  return { servers, bundles: bundles.entries, ...ofSettings, diagnostics, readable: true };
}

function isInsideServer(path: Path): boolean {
  return path.length >= 2 && (path[0] === "mcpServers" || path[0] === "servers");
}

function containersOf(root: Record<string, unknown>): [string, unknown][] {
  return ["mcpServers", "servers"].filter((key) => root[key] !== undefined).map((key) => [key, root[key]]);
}

type Place = ReturnType<typeof createPlace>;

const longestPath = 500;

/** Maps paths in the document to file, line and column. */
function createPlace(document: ConfigDocument, text: string, { scope = "override", file }: ParseOptions) {
  const positionAt = positionsIn(text);
  const origin = (path: Path): Origin => {
    for (let depth = path.length; depth >= 0; depth--) {
      const span = findSpan(document, path.slice(0, depth));
      if (span) return { ...base, ...positionAt(span.start) };
    }
    return base;
  };
  const base: Origin = file === undefined ? { scope } : { scope, file };
  const about = (path: Path) => {
    if (isInsideServer(path)) return { server: String(path[1]) };
    return path[0] === "bundles" && path.length >= 2 ? { bundle: String(path[1]) } : {};
  };
  const diagnostic = ({ path, ...finding }: Finding): Diagnostic => {
    return {
      ...finding,
      path: brief(formatPath(path), longestPath),
      ...about(path),
      ...positionOf(origin(path)),
    };
  };
  const problem = (message: string, offset: number, path: Path = []): Diagnostic => ({
    severity: "error",
    message,
    path: brief(formatPath(path), longestPath),
    ...about(path),
    ...(file === undefined ? {} : { file }),
    ...positionAt(offset),
  });
  return { origin, diagnostic, problem };
}

function readServers(
  container: string,
  value: unknown,
  problems: Diagnostic[],
  place: Place,
): ParsedServer[] {
  if (!isRecord(value)) return [];
  const problemsOf = Map.groupBy(problems, ({ server }) => server);
  return Object.entries(value)
    .filter(([name]) => !isNote(name))
    .map(([name, written]) => {
      const path = [container, name];
      const { config, findings } = ownMistake(path, () => checkServer(written, path));
      const badName = checkName(name, path);
      const duplicates = problemsOf.get(name) ?? [];
      const all = countedFindings([...badName, ...findings], path);
      const isGood = config !== undefined && duplicates.length === 0 && badName.length === 0;
      const fields = isRecord(written)
        ? Object.keys(written).map((key) => [key, place.origin([...path, key])] as const)
        : [];
      const origin = place.origin(path);
      return {
        name,
        written,
        origin,
        fields: Object.fromEntries(fields),
        rules: isGood
          ? ruleOrigins(written, path, ["tools", "approval", "untrusted", "alwaysLoad"], place)
          : {},
        diagnostics: [...duplicates, ...all.map(place.diagnostic)],
        ...(isGood ? { config } : {}),
      };
    });
}

/** Names are shown, compared and used in tool ids, so a person must be able to read and type them. */
function checkName(name: string, path: Path): Finding[] {
  const message = nameMistake(name);
  return message === undefined ? [] : [{ severity: "error", path, message }];
}

function nameMistake(name: string): string | undefined {
  if (name.trim() === "") return "a server needs a name";
  if (name.length > 128) return "a server's name can have at most 128 characters";
  if (hasInvisible(name)) return "a server's name must not contain control or invisible characters";
  // A command that we suggest would read it as an option, even in quotes: `plugboard trust --yes`.
  if (name.startsWith("-")) return "a server's name must not start with a hyphen";
  return undefined;
}

function readBundles(value: unknown, place: Place): { entries: BundleEntry[]; findings: Finding[] } {
  if (value === undefined) return { entries: [], findings: [] };
  if (!isRecord(value)) {
    return {
      entries: [],
      findings: [{ severity: "error", path: ["bundles"], message: "expected an object" }],
    };
  }
  const entries = Object.entries(value).map(([name, written]) => {
    const path = ["bundles", name];
    const { data, findings } = ownMistake(path, () => check(bundleSchema, written, path));
    if (data && !data.servers && data.serverId === undefined) {
      findings.push({
        severity: "error",
        path,
        message: "a bundle needs `servers`",
        suggestion: 'add "servers": ["…"]',
      });
    }
    if (data?.tools?.allow?.length === 0) {
      findings.push({
        severity: "error",
        path: [...path, "tools", "allow"],
        message: "an empty `allow` list hides every tool",
        suggestion: "remove `allow` to offer all tools of the servers",
      });
    }
    const origin = place.origin(path);
    const diagnostics = countedFindings(findings, path).map(place.diagnostic);
    const rules = data ? ruleOrigins(written, path, ["tools", "servers", "serverId", "mode"], place) : {};
    if (!data || findings.length > 0) return { name, origin, rules, diagnostics };
    const servers = [
      ...new Set([...(data.servers ?? []), ...(data.serverId === undefined ? [] : [data.serverId])]),
    ];
    return { name, origin, rules, diagnostics, config: { ...data, servers } };
  });
  return { entries, findings: [] };
}

function readSettings(root: Record<string, unknown>, place: Place) {
  const settings: Record<string, unknown> = {};
  const settingOrigins: Record<string, Origin> = {};
  const findings: Finding[] = [];
  const shape: Record<string, (typeof settingsSchema.shape)[keyof typeof settingsSchema.shape]> =
    settingsSchema.shape;
  for (const [key, value] of Object.entries(root)) {
    if (key === "$schema" || key === "mcpServers" || key === "servers" || key === "bundles" || isNote(key))
      continue;
    const schema = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (!schema) {
      findings.push(unknownKey(key, [key], Object.keys(configSchema.shape)));
      continue;
    }
    const { data, findings: wrong } = ownMistake([key], () => check(schema, value, [key]));
    findings.push(...wrong);
    // What should have been asked about or denied must not be approved because of a slip.
    if (wrong.length > 0 && key !== "approval") continue;
    settings[key] = wrong.length > 0 ? "deny" : data;
    settingOrigins[key] = place.origin([key]);
    if (key !== "approval") continue;
    if (wrong.length === 0) findings.push(...overruledRules(data as Settings["approval"], [key]));
    else findings.push({ severity: "warning", path: [key], message: unreadableApproval });
  }
  const settingRules = ruleOrigins(settings, [], ["approval"], place);
  return { settings: settings as Settings, settingOrigins, settingRules, findings };
}

const unreadableApproval =
  "until this is corrected, every call is denied on servers without `approval` of their own";

/** Where each rule of an entry that passed its checks is written: of the given fields and everything inside them. */
function ruleOrigins(
  entry: unknown,
  path: Path,
  fields: readonly string[],
  place: Place,
): Record<string, Origin> {
  const origins: Record<string, Origin> = {};
  const visit = (value: unknown, inside: Path): void => {
    origins[formatPath(inside)] = place.origin([...path, ...inside]);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...inside, index]);
    else if (isRecord(value)) for (const key of Object.keys(value)) visit(value[key], [...inside, key]);
  };
  for (const field of fields)
    if (isRecord(entry) && Object.hasOwn(entry, field)) visit(entry[field], [field]);
  return origins;
}
