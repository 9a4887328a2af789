import { PlugboardError } from "../errors.ts";
import { nearest } from "../lib/suggest.ts";
import { notation } from "./documents/document.ts";
import { formats } from "./formats/index.ts";
import type { Format, NamedServer, WrittenFile } from "./formats/format.ts";

/** A client's file as text, and what it cannot express. */
export interface Exported {
  text: string;
  notes: WrittenFile["notes"];
}

/**
 * Writes servers in another client's format, with notes on what that format cannot express. A disabled server that
 * would be enabled there is left out.
 */
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
  const { write } = format;
  const hasNoSwitch = (server: NamedServer) =>
    server.config.enabled === false &&
    write([server]).notes.some(({ kind, field }) => kind === "lost" && field === "enabled");
  const left = servers.filter(hasNoSwitch);
  const { value, notes } = write(servers.filter((server) => !left.includes(server)));
  const { stringify } = await notation(format.syntax === "jsonc" ? "json" : format.syntax);
  const message = `it is disabled, and ${format.title} has no switch for that, so it is left out`;
  const leftOut = left.map(({ name }) => ({
    server: name,
    kind: "lost" as const,
    field: "enabled",
    message,
  }));
  return { text: stringify(value), notes: [...notes, ...leftOut] };
}

/** Finds a client's format. Throws `usage-invalid` for an unknown id. */
export function formatById(id: string): Format {
  const format = formats.find((one) => one.id === id);
  if (format) return format;
  const ids = formats.map((one) => one.id);
  const near = nearest(id, ids);
  throw new PlugboardError("usage-invalid", `Unknown client: "${id}".`, {
    hint: near ? `Did you mean ${near}?` : `Choose one of ${ids.join(", ")}.`,
  });
}
