import { isRecord } from "../../../lib/record.ts";
import { takeField, type WriteDraft } from "../draft.ts";
import { textList } from "../fields.ts";

/** The inverse of `unwrapMcpRemote`: writes a remote server as a local command that connects to it. */
export function wrapInMcpRemote(draft: WriteDraft): void {
  const { config } = draft;
  if (config.get("type") === "stdio" || !config.has("url")) return;
  const args = ["-y", "mcp-remote", String(takeField(draft, "url"))];
  const port = takeField(draft, "oauth.callbackPort");
  if (typeof port === "number") args.push(String(port));
  if (config.get("type") === "sse") args.push("--transport", "sse-first");
  const headers = takeField(draft, "headers");
  for (const [name, value] of Object.entries(isRecord(headers) ? headers : {})) {
    args.push("--header", `${name}:${String(value)}`);
  }
  const denied = textList(config.get("tools.deny")) ?? [];
  if (denied.length > 0) takeField(draft, "tools.deny");
  for (const name of denied) args.push("--ignore-tool", name);
  config.set("type", "stdio");
  config.set("command", "npx");
  config.set("args", args);
  draft.notes.push({
    kind: "translated",
    field: "url",
    message: `${draft.client} supports only local servers: mcp-remote (from npm) connects it to the URL`,
  });
}
