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
  /** `setAside` if it is invalid for every provider. */
  | { ok: false; path: string; reason: string; setAside?: true }
);

/** Compiles the schema of every remembered tool that no rule hides. Starts no server. */
export async function checkProvider(hub: Hub, provider: Provider): Promise<ProviderTool[]> {
  const tools = (await hub.allTools({ wait: false })).filter(({ status }) => status !== "hidden");
  return tools.map(({ id, server, inputSchema, status, because = "it is invalid" }) => {
    // Its schema may be hostile, so nothing looks at it again.
    if (status === "set-aside") return { id, server, ok: false, path: "", reason: because, setAside: true };
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
      ? "all schemas are supported"
      : `${count(lossy.length, "schema loses", "schemas lose")} something`;
  const aside = tools.filter((tool) => !tool.ok);
  const left = aside.length === 0 ? "" : `${aside.length} ${aside.length === 1 ? "is" : "are"} set aside; `;
  return [
    {
      level: "ok",
      about: provider,
      message: `${usable.length} of ${count(tools.length, "tool")} can be offered; ${left}${loss}`,
    },
    ...aside.map(unusable),
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

function unusable({ id, path, reason, setAside }: Extract<ProviderTool, { ok: false }>): Finding {
  return {
    level: "problem",
    about: id,
    message: `cannot be offered: ${placed(path, reason)}`,
    advice: setAside
      ? "Plugboard leaves it out for every provider. Report it to the server's author."
      : "Plugboard leaves it out for this provider. Ask the server's author to simplify the schema.",
  };
}

function placed(path: string, text: string): string {
  return path === "" ? text : `${path}: ${text}`;
}
