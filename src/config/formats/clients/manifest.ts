import { isRecord } from "../../../lib/record.ts";
import { clientFormat, listedEntries } from "../client-format.ts";
import { addressFields, commandFields } from "../command-fields.ts";
import { nested, type Rule, text, textList, label } from "../fields.ts";
import { allowed, approvalList } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { secretVariables } from "../variables.ts";

/** The manifest of an extension that bridges MCP servers; it is in the extension's folder, wherever that is. */
export const manifest = clientFormat({
  id: "manifest",
  title: "Extension manifest",
  syntax: "yaml",
  files: () => [],
  find: ({ config, enabled }) => ({
    ...listedEntries(isRecord(config) ? config["servers"] : config, "config.servers", "alias"),
    isDisabled: () => enabled === false,
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

/** Plugboard always caches tool lists; `false` becomes a cache time of 0. */
function cacheTools(): Rule {
  return {
    read: (value, field, draft) => {
      if (typeof value !== "boolean") return `\`${field}\` must be true or false`;
      if (!value) draft.config.set("cacheTtlMs", 0);
      return undefined;
    },
  };
}

/** `always` or `never` for all tools, or an object with a list of tools under each. */
function approval(): Rule {
  const byTool = nested({ always: toolNames("prompt"), never: toolNames("approve") });
  return {
    read: (value, field, draft) => {
      if (value !== "always" && value !== "never") return byTool.read(value, field, draft);
      draft.config.set("approval.default", value === "always" ? "prompt" : "approve");
      return undefined;
    },
  };
}

/** A list, or the same list as `{ tool_names: […] }`. */
function toolNames(mode: "approve" | "prompt"): Rule {
  const list = approvalList(mode);
  return {
    read: (value, field, draft) =>
      list.read(textList(value) ?? (isRecord(value) ? value["tool_names"] : value), field, draft),
  };
}
