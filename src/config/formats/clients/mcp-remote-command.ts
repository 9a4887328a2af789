import { isRecord } from "../../../lib/record.ts";
import { take, type WriteDraft } from "../draft.ts";
import { textList } from "../fields.ts";

/** The way back from `unwrapMcpRemote`: a remote server as a local command that reaches it. */
export function wrapInMcpRemote(draft: WriteDraft): void {
  const { homes } = draft;
  if (homes.get("type") === "stdio" || !homes.has("url")) return;
  const args = ["-y", "mcp-remote", String(take(draft, "url"))];
  const port = take(draft, "oauth.callbackPort");
  if (typeof port === "number") args.push(String(port));
  if (homes.get("type") === "sse") args.push("--transport", "sse-first");
  const headers = take(draft, "headers");
  for (const [name, value] of Object.entries(isRecord(headers) ? headers : {})) {
    args.push("--header", `${name}:${String(value)}`);
  }
  const denied = textList(homes.get("tools.deny")) ?? [];
  if (denied.length > 0) take(draft, "tools.deny");
  for (const name of denied) args.push("--ignore-tool", name);
  homes.set("type", "stdio");
  homes.set("command", "npx");
  homes.set("args", args);
  draft.notes.push({
    kind: "translated",
    field: "url",
    message: `${draft.client} starts local servers only: mcp-remote (from npm) connects it to the address`,
  });
}
