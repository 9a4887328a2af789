import { formatPath } from "../config/documents/document.ts";
import { positionOf } from "../config/model.ts";
import type { Diagnostic, LoadedConfig, ServerEntry } from "../config/model.ts";
import { matchesGlob } from "../lib/glob.ts";
import { defined, isRecord } from "../lib/record.ts";
import { nearest } from "../lib/suggest.ts";
import { declares } from "./argument-rules.ts";
import { guardSchema } from "./schema/guard.ts";
import { firstMistake } from "./schema/validate.ts";
import type { ToolEntry } from "./tool-entry.ts";

type Tool = Pick<ToolEntry, "server" | "name" | "raw">;

/**
 * Mistakes in rules for arguments: names that none of the tools has, defaults that do not fit, and required arguments
 * that are hidden without a default. Patterns that match no tool are found by `unmatchedPatterns`.
 */
export function argumentMistakes({ servers }: LoadedConfig, tools: readonly Tool[]): Diagnostic[] {
  return [...servers.values()].flatMap((entry) => {
    const own = tools.filter(({ server }) => server === entry.name);
    return own.length === 0 ? [] : mistakesIn(entry, own);
  });
}

function mistakesIn({ name, config, rules, origin }: ServerEntry, tools: readonly Tool[]): Diagnostic[] {
  const { defaults = {}, hideArguments = {} } = config?.tools ?? {};
  const found: Diagnostic[] = [];
  const tell = (inside: (string | number)[], message: string, suggestion: string) => {
    const place = rules[formatPath(inside)] ?? rules[formatPath(inside.slice(0, -1))] ?? origin;
    const path = formatPath(["mcpServers", name, ...inside]);
    found.push({ severity: "warning", server: name, path, message, suggestion, ...positionOf(place) });
  };
  const check = (inside: (string | number)[], glob: string, argument: string) => {
    const matching = tools.filter((tool) => matchesGlob(glob, tool.name));
    const known = matching.flatMap((tool) => Object.keys(propertiesOf(tool)));
    const isOpen = matching.some(
      ({ raw }) => !isRecord(raw["inputSchema"]) || !("properties" in raw["inputSchema"]),
    );
    const isDeclared = matching.some(({ raw }) => declares(raw["inputSchema"], argument));
    if (matching.length === 0 || isOpen || isDeclared) return matching;
    const near = nearest(argument, known);
    const what =
      matching.length === 1 ? `the tool ${matching[0]?.name ?? ""} has` : `the tools of "${glob}" have`;
    tell(
      inside,
      `${what} no argument "${argument}"`,
      near === undefined ? "correct or remove it" : `did you mean "${near}"?`,
    );
    return matching;
  };
  for (const [glob, values] of Object.entries(defaults))
    for (const [argument, value] of Object.entries(values)) {
      const inside = ["tools", "defaults", glob, argument];
      for (const tool of check(inside, glob, argument)) {
        const mistake = defaultMistake(tool, argument, value);
        if (mistake !== undefined)
          tell(
            inside,
            `the default does not fit ${tool.name}: ${mistake}`,
            "write a value that the tool accepts",
          );
      }
    }
  for (const [glob, names] of Object.entries(hideArguments))
    for (const [at, argument] of names.entries()) {
      const inside = ["tools", "hideArguments", glob, at];
      for (const tool of check(inside, glob, argument)) {
        const hasDefault = Object.entries(defaults).some(
          ([other, values]) => matchesGlob(other, tool.name) && Object.hasOwn(values, argument),
        );
        if (!hasDefault && requiredOf(tool).includes(argument))
          tell(
            inside,
            `${tool.name} requires the hidden argument "${argument}", so it is not offered`,
            "add a default for it in `tools.defaults`",
          );
      }
    }
  return found;
}

/** Checks one argument by itself: a default is not meant to be a whole call. */
function defaultMistake(tool: Tool, argument: string, value: unknown): string | undefined {
  const { raw } = tool;
  const whole = isRecord(raw["inputSchema"]) ? raw["inputSchema"] : {};
  const properties = Object.fromEntries(
    Object.entries(propertiesOf(tool)).filter(([name]) => name === argument),
  );
  const { $defs, definitions } = whole;
  const schema = { type: "object", properties, ...defined({ $defs, definitions }) };
  if (!guardSchema(schema).ok) return undefined;
  return firstMistake(schema, Object.fromEntries([[argument, value]]));
}

function propertiesOf({ raw }: Tool): Record<string, unknown> {
  const schema = raw["inputSchema"];
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  return isRecord(properties) ? properties : {};
}

function requiredOf({ raw }: Tool): unknown[] {
  const schema = raw["inputSchema"];
  const required = isRecord(schema) ? schema["required"] : undefined;
  return Array.isArray(required) ? required : [];
}
