import { PlugboardError } from "../../../index.ts";
import type { Hub } from "../../../index.ts";

const maxPages = 1_000;

/** How many tools a server lists, before any filter. */
export async function countTools(hub: Hub, server: string): Promise<number> {
  const seen = new Set<string>();
  let total = 0;
  for (let cursor: string | undefined; seen.size < maxPages;) {
    const answer = await hub.request("tools/list", cursor === undefined ? {} : { cursor }, { server });
    const list = "result" in answer ? answer.result["tools"] : undefined;
    if (!("result" in answer) || !Array.isArray(list)) {
      const why =
        "error" in answer ? `${answer.error.message} (${answer.error.code})` : "the response has no list";
      throw new PlugboardError("protocol-error", `"${server}" did not list its tools: ${why}.`, { server });
    }
    total += list.length;
    const next = answer.result["nextCursor"];
    if (typeof next !== "string" || seen.has(next)) return total;
    seen.add(next);
    cursor = next;
  }
  return total;
}
