import { Command } from "commander";
import {
  configJsonSchema,
  describeOrigin,
  parseConfig,
  shownBundle,
  shownEntry,
  shownSettings,
} from "../../config.ts";
import type { Diagnostic } from "../../config.ts";
import type { LoadedConfig } from "../../index.ts";
import { count, json, painter, safe, sentence, table } from "../terminal/print.ts";
import { diagnosticLine } from "../terminal/report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { verb, withWorkspace } from "../verb.ts";
import { reportLostRule } from "../with-hub.ts";
import type { CommonOptions } from "../verb.ts";

export function command(terminal: Terminal): Command {
  return new Command("config")
    .description("Show where the configuration comes from, what it contains and whether it is valid.")
    .addCommand(pathCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(schemaCommand(terminal))
    .addCommand(validateCommand(terminal))
    .addHelpText("after", "\nExamples:\n  plugboard config path\n  plugboard config validate --json");
}

function pathCommand(terminal: Terminal): Command {
  return verb("path", "List the configuration files, highest precedence first.", ["config path"])
    .option("-a, --all", "include files that do not exist")
    .action(async (options: CommonOptions & { all?: boolean }) =>
      withWorkspace(terminal, options, async (workspace) => {
        const { sources, policy, projectRoot } = await workspace.load();
        const shown = sources
          .filter(({ state }) => options.all || state !== "missing")
          .map(({ untrustedSettings, ...source }) => ({
            ...source,
            ...(untrustedSettings && { untrustedSettings: Object.keys(untrustedSettings) }),
          }));
        const state = workspace.stateFile;
        if (options.json)
          return terminal.out(json({ projectRoot, sources: shown, managed: policy.file ?? null, state }));
        const rows = shown.map(({ scope, state: word, file, reason }) => [
          scope,
          reason ?? word,
          file ?? describeOrigin({ scope }),
        ]);
        if (policy.file !== undefined) rows.unshift(["managed", policy.broken ?? "used", policy.file]);
        rows.push(["state", "", state]);
        terminal.out(table(["SCOPE", "STATE", "FILE"], rows, painter(terminal)));
      }),
    );
}

function showCommand(terminal: Terminal): Command {
  return verb("show", "Print the effective configuration, with references unexpanded and secrets hidden.", [
    "config show",
  ]).action(async (options: CommonOptions) =>
    withWorkspace(terminal, options, async (workspace) => {
      const config = await workspace.load();
      reportLostRule(config, terminal);
      if (options.json) return terminal.out(json({ ...effective(config), origins: origins(config) }));
      terminal.out(json(effective(config)));
    }),
  );
}

function effective({ servers, bundles, settings }: LoadedConfig) {
  return {
    mcpServers: Object.fromEntries([...servers].map(([name, entry]) => [name, shownEntry(entry)])),
    ...(bundles.size > 0
      ? { bundles: Object.fromEntries([...bundles].map(([name, { config }]) => [name, shownBundle(config)])) }
      : {}),
    ...shownSettings(settings),
  };
}

function origins({ servers, bundles, settingOrigins }: LoadedConfig) {
  return {
    servers: Object.fromEntries(
      [...servers].map(([name, { origin, fields }]) => [name, { ...origin, fields }]),
    ),
    bundles: Object.fromEntries([...bundles].map(([name, { origin }]) => [name, origin])),
    settings: settingOrigins,
  };
}

function schemaCommand(terminal: Terminal): Command {
  return verb("schema", "Print the JSON Schema of the configuration, for editors.", [
    "config schema > plugboard.schema.json",
  ]).action(() => terminal.out(json(configJsonSchema())));
}

function validateCommand(terminal: Terminal): Command {
  return verb(
    "validate",
    "Check the configuration and show every mistake with its file, line and a suggestion.",
    ["config validate", "config validate --config ./plugboard.toml", "config validate - < .mcp.json"],
  )
    .argument("[input]", "a file to check; `-` reads standard input")
    .action(async (input: string | undefined, options: CommonOptions) => {
      const diagnostics = await findings(input, options, terminal);
      const errors = diagnostics.filter(({ severity }) => severity === "error").length;
      if (errors > 0) terminal.exitCode = 3;
      if (options.json) return terminal.out(json({ valid: errors === 0, diagnostics }));
      for (const diagnostic of diagnostics) terminal.out(diagnosticLine(diagnostic, terminal, "out"));
      const warnings = diagnostics.length - errors;
      const verdict = errors === 0 ? "The configuration is valid" : count(errors, "mistake");
      terminal.out(
        sentence(`${safe(verdict)}${warnings > 0 ? `, ${count(warnings, "warning")}` : ""}.`, terminal),
      );
    });
}

async function findings(
  input: string | undefined,
  options: CommonOptions,
  terminal: Terminal,
): Promise<readonly Diagnostic[]> {
  if (input === "-")
    return (await parseConfig(await terminal.readInput(), { file: "(standard input)" })).diagnostics;
  const file = input === undefined ? options : { ...options, config: input };
  return withWorkspace(terminal, file, async (workspace) => (await workspace.load()).diagnostics);
}
