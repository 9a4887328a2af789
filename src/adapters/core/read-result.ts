import { PlugboardError } from "../../index.ts";
import type { View } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import type { Definition } from "./definition.ts";

/** Servers' own names always have a separator, so this one is free. */
export const readResultName = "read_result";

/** A tool of ours that reads results which were too large to be given whole. */
export const readResultTool: Definition = {
  name: readResultName,
  description:
    "Read more of a result that was cut, by its handle: a page, the places where a text occurs (find), or values by JSON pointers (select).",
  schema: {
    type: "object",
    properties: {
      handle: { type: "string", description: "The handle that the cut result names, like r_…" },
      page: { type: "integer", description: "From 1" },
      find: { type: "string" },
      select: { type: "array", items: { type: "string" } },
      part: { type: "string" },
    },
    required: ["handle"],
  },
  annotations: { readOnlyHint: true },
  mayAsk: false,
  canAsk: false,
};

/** Reads as the model asks. Throws what `view.result` throws. */
export async function readResult(
  view: View,
  args: Record<string, unknown>,
): Promise<{ text: string; server: string }> {
  const { handle, page, find, select, part } = args;
  const pointers = typeof select === "string" ? [select] : (select ?? []);
  if (!isTexts(pointers)) throw wrong("`select` must be a list of JSON pointers");
  const number = typeof page === "string" ? Number(page) : (page ?? undefined);
  if (number !== undefined && !Number.isSafeInteger(number)) throw wrong("`page` must be a whole number");
  const read = await view.result(typeof handle === "string" ? handle : "", {
    ...(number !== undefined && { page: number as number }),
    ...(typeof find === "string" && find !== "" && { find }),
    ...(pointers.length > 0 && { select: pointers }),
    ...(typeof part === "string" && part !== "" && { part }),
  });
  const { text, pages, matches, more, server } = read;
  const where = matches
    ? `${matches.length}${more ? " of more" : ""} matches in ${pages} pages`
    : `Page ${read.page ?? 1} of ${pages}`;
  return { text: `${where}\n${text}`, server };
}

/** The handle under which the whole of a cut result is kept. */
export function handleOf(result: { _meta?: Record<string, unknown> }): string | undefined {
  const note = result._meta?.["plugboard/output"];
  return isRecord(note) && typeof note["handle"] === "string" ? note["handle"] : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function wrong(problem: string): PlugboardError {
  return new PlugboardError(
    "arguments-invalid",
    `The arguments of ${readResultName} do not fit: ${problem}.`,
    {
      tool: readResultName,
    },
  );
}
