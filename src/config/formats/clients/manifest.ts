import { isRecord } from "../../../lib/record.ts";
import { clientFormat, listedEntries } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { nested, type Rule, text, textList, label } from "../fields.ts";
import { allowed, answered } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { secretVariables } from "../variables.ts";

/** The manifest of an extension that bridges MCP servers; it lies wherever the extension does. */
export const manifest = clientFormat({
  id: "manifest",
  title: "Extension manifest",
  syntax: "yaml",
  files: () => [],
  find: ({ config, enabled }) => ({
    ...listedEntries(isRecord(config) ? config["servers"] : config, "config.servers", "alias"),
    off: () => enabled === false,
  }),
  variables: secretVariables,
  remote: "http",
  fields: {
    alias: label,
    transport: transport(usualWords),
    ...commandFields,
    cwd: text("cwd"),
    ...addressFields,
    cache_tools: cacheTools(),
    tool_filter: allowed({ empty: "no tool" }),
    require_approval: approval(),
  },
});

/** Lists are always cached here; `false` asks for a fresh one every time. */
function cacheTools(): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "boolean") return `\`${field}\` is neither true nor false`;
      if (!value) draft.homes.set("cacheTtlMs", 0);
      return undefined;
    },
  };
}

/** `always` and `never` for all tools, or lists of tools under these words. */
function approval(): Rule {
  const byTool = nested({ always: toolNames("prompt"), never: toolNames("approve") });
  return {
    read: (value, field, draft) => {
      if (value !== "always" && value !== "never") return byTool.read(value, field, draft);
      draft.homes.set("approval.default", value === "always" ? "prompt" : "approve");
      return undefined;
    },
  };
}

/** A list, or the same list as `{ tool_names: […] }`. */
function toolNames(mode: "approve" | "prompt"): Rule {
  const list = answered(mode);
  return {
    read: (value, field, draft) =>
      list.read(textList(value) ?? (isRecord(value) ? value["tool_names"] : value), field, draft),
  };
}
