import { compileSchema } from "../../index.ts";
import type { CompiledSchema, Hub, SchemaTarget } from "../../index.ts";
import { shellWord } from "../../lib/argv.ts";
import type { Finding } from "./finding.ts";
import { count } from "../terminal/print.ts";

export const providers = ["openai-strict", "openai", "anthropic", "gemini"] as const satisfies SchemaTarget[];
export type Provider = (typeof providers)[number];

/** The result of compiling one tool's schema for a model API. */
export type ProviderTool = { id: string; server: string } & (
  | { ok: true; notes: Extract<CompiledSchema, { ok: true }>["notes"] }
  | { ok: false; path: string; reason: string }
);

/** Compiles the schema of every remembered tool. Starts no server. */
export async function checkProvider(hub: Hub, provider: Provider): Promise<ProviderTool[]> {
  const tools = await hub.tools({ wait: false });
  return tools.map(({ id, server, inputSchema }) => {
    const compiled = compileSchema(inputSchema, provider);
    if (!compiled.ok) return { id, server, ok: false, path: compiled.path, reason: compiled.reason };
    return { id, server, ok: true, notes: compiled.notes };
  });
}

export async function providerFindings(
  hub: Hub,
  provider: Provider,
  tools: ProviderTool[],
): Promise<Finding[]> {
  const unknown = (await hub.listStates("tools")).filter(({ at }) => at === undefined);
  const usable = tools.filter((tool) => tool.ok);
  const lossy = usable.filter(({ notes }) => notes.length > 0);
  const loss =
    lossy.length === 0
      ? "no schema loses anything"
      : `${count(lossy.length, "schema loses", "schemas lose")} something`;
  return [
    {
      level: "ok",
      about: provider,
      message: `${usable.length} of ${count(tools.length, "tool")} can be offered; ${loss}`,
    },
    ...tools.filter((tool) => !tool.ok).map(unusable),
    ...lossy.map(({ id, notes }): Finding => {
      const [first] = notes;
      const rest = notes.length > 1 ? `, and ${notes.length - 1} more (--json lists them)` : "";
      return {
        level: "note",
        about: id,
        message: `${placed(first?.path ?? "", first?.message ?? "")}${rest}`,
      };
    }),
    ...unknown.map(({ server }): Finding => ({
      level: "note",
      about: server,
      message: "tools not known yet",
      advice: `Run \`plugboard tools ${shellWord(server)}\` to ask it.`,
    })),
  ];
}

function unusable({ id, path, reason }: Extract<ProviderTool, { ok: false }>): Finding {
  return {
    level: "problem",
    about: id,
    message: `cannot be offered: ${placed(path, reason)}`,
    advice: "Plugboard leaves it out for this provider. Ask the server's author to simplify the schema.",
  };
}

function placed(path: string, text: string): string {
  return path === "" ? text : `${path}: ${text}`;
}
