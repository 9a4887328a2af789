import { PlugboardError } from "../errors.ts";
import { nearest } from "../lib/suggest.ts";
import { notation } from "./documents/document.ts";
import { formats } from "./formats/index.ts";
import type { Format, NamedServer, WrittenFile } from "./formats/format.ts";

export interface Exported {
  text: string;
  notes: WrittenFile["notes"];
}

/** Writes servers in another client's format, with notes on what that format cannot express. */
export async function exportServers(format: Format, servers: readonly NamedServer[]): Promise<Exported> {
  if (!format.write) {
    const exportable = formats.filter(({ write }) => write).map(({ id }) => id);
    throw new PlugboardError(
      "usage-invalid",
      `Plugboard can import from ${format.title} but not export to it.`,
      {
        hint: `Choose one of ${exportable.join(", ")}.`,
      },
    );
  }
  const { value, notes } = format.write(servers);
  const { stringify } = await notation(format.syntax === "jsonc" ? "json" : format.syntax);
  return { text: stringify(value), notes };
}

export function formatById(id: string): Format {
  const format = formats.find((one) => one.id === id);
  if (format) return format;
  const ids = formats.map((one) => one.id);
  const near = nearest(id, ids);
  throw new PlugboardError("usage-invalid", `Unknown client: "${id}".`, {
    hint: near ? `Did you mean ${near}?` : `Choose one of ${ids.join(", ")}.`,
  });
}
