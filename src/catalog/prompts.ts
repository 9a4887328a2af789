import { toolId } from "./names.ts";
import type { Naming } from "./names.ts";
import type { RawEntry } from "./known-list.ts";

/** A prompt as a slash command: `/mcp__server__prompt`. */
export interface PromptCommand {
  command: string;
  id: string;
  server: string;
  name: string;
  title?: string;
  description?: string;
  arguments: { name: string; description?: string; required: boolean }[];
}

/** The usable prompts of a list, in the server's order. */
export function promptCommands(
  server: string,
  entries: readonly RawEntry[],
  naming: Naming,
): PromptCommand[] {
  return entries.flatMap((raw) => toCommand(server, raw, naming) ?? []);
}

function toCommand(server: string, raw: RawEntry, naming: Naming): PromptCommand | undefined {
  const { name, title, description } = raw;
  if (typeof name !== "string" || name === "") return undefined;
  const id = toolId(server, name, naming);
  return {
    command: `/${id}`,
    id,
    server,
    name,
    arguments: argumentsOf(raw),
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
}

function argumentsOf({ arguments: declared }: RawEntry): PromptCommand["arguments"] {
  if (!Array.isArray(declared)) return [];
  return (declared as Record<string, unknown>[]).flatMap((argument) => {
    if (typeof argument?.["name"] !== "string") return [];
    const { name, description, required } = argument;
    return [{ name, required: required === true, ...(typeof description === "string" && { description }) }];
  });
}
