import { PlugboardError } from "../errors.ts";
import type { JsonRpcAnswer } from "../servers/lane.ts";

export interface PageLimits {
  pages: number;
  entries: number;
}

const defaultLimits: PageLimits = { pages: 1_000, entries: 100_000 };

/** Walks a paginated list and returns the server's own objects. An empty cursor is a cursor; a repeated one is a loop. */
export async function readPages(
  server: string,
  member: string,
  ask: (params: Record<string, unknown>) => Promise<JsonRpcAnswer>,
  limits: PageLimits = defaultLimits,
): Promise<Record<string, unknown>[]> {
  const entries: Record<string, unknown>[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.pages; page++) {
    const answer = await ask(cursor === undefined ? {} : { cursor });
    if ("error" in answer) {
      const { code, message } = answer.error;
      throw new PlugboardError(
        "protocol-error",
        `"${server}" did not list its ${member}: ${message} (${code}).`,
        { server, data: { rpcCode: code } },
      );
    }
    const list = answer.result[member];
    if (!Array.isArray(list))
      throw new PlugboardError("protocol-error", `"${server}" answered without a list of ${member}.`, {
        server,
      });
    for (const entry of list as unknown[]) {
      if (typeof entry === "object" && entry !== null && !Array.isArray(entry))
        entries.push(entry as Record<string, unknown>);
    }
    const next = answer.result["nextCursor"];
    if (typeof next !== "string" || entries.length >= limits.entries) return entries.slice(0, limits.entries);
    if (seen.has(next))
      throw new PlugboardError("protocol-error", `"${server}" lists its ${member} in circles.`, { server });
    seen.add(next);
    cursor = next;
  }
  return entries;
}
