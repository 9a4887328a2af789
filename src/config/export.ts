import { PlugboardError } from "../errors.ts";
import { nearest } from "../lib/suggest.ts";
import { notation } from "./documents/document.ts";
import { formats } from "./formats/index.ts";
import type { Format, NamedServer, WrittenFile } from "./formats/format.ts";

export interface Exported {
  text: string;
  notes: WrittenFile["notes"];
}

/** Servers in another client's notation, as the text of a file, with a report of what it cannot say. */
export async function exportServers(format: Format, servers: readonly NamedServer[]): Promise<Exported> {
  if (!format.write) {
    const able = formats.filter(({ write }) => write).map(({ id }) => id);
    throw new PlugboardError("usage-invalid", `${format.title} can be imported but not exported to.`, {
      hint: `Choose one of ${able.join(", ")}.`,
    });
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
  throw new PlugboardError("usage-invalid", `"${id}" is no client that Plugboard knows.`, {
    hint: near ? `Did you mean ${near}?` : `Known are ${ids.join(", ")}.`,
  });
}
