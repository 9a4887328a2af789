import { isRecord } from "../../../lib/record.ts";
import { parseTemplate } from "../../template.ts";
import { lost, takeField, type WriteDraft } from "../draft.ts";
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
    const isPlain = parseTemplate(String(value)).every(
      (part) => typeof part !== "string" || !part.includes("${"),
    );
    if (isPlain) args.push("--header", `${name}:${String(value)}`);
    else {
      const message = "mcp-remote would read part of this plain text as a variable, so it is left out";
      draft.notes.push(lost(`headers.${name}`, message));
    }
  }
  const resource = takeField(draft, "oauth.resource");
  if (resource === false) args.push("--disable-resource-parameter");
  else if (typeof resource === "string") args.push("--resource", resource);
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
