import { isRecord } from "../../../lib/record.ts";
import { type BundleConfig, bundleSchema } from "../../schema.ts";
import { clientFormat, ownFile } from "../client-format.ts";
import { lost, noEquivalent } from "../draft.ts";
import { usualFields } from "../command-fields.ts";
import { nested, type Rule, text } from "../fields.ts";
import type { Format, ImportedFile } from "../format.ts";
import { projectFile } from "../paths.ts";
import { noVariables } from "../variables.ts";

const servers = clientFormat({
  id: "toolloop",
  title: "Codex Toolloop",
  syntax: "jsonc",
  files: (machine) => [
    projectFile(machine, ".codex-toolloop", "mcp.json"),
    projectFile(machine, "codex-toolloop.mcp.json"),
  ],
  find: ownFile("servers", ["bundles"]).find,
  variables: noVariables,
  remote: "http",
  fields: {
    trust: trust(),
    transport: nested({
      ...usualFields,
      cwd: text("cwd"),
      authProviderId: text("auth"),
    }),
  },
});

/** Each server is marked as trusted or untrusted; bundles group their tools. */
export const toolloop: Format = {
  ...servers,
  read: (document, context) => {
    const file = servers.read(document, context);
    return isRecord(document) ? readBundles(document["bundles"], file) : file;
  },
};

function trust(): Rule {
  return {
    read: (value, field, draft) => {
      if (value !== "trusted" && value !== "untrusted")
        return `\`${field}\` is neither trusted nor untrusted`;
      if (value === "untrusted") draft.config.set("untrusted", true);
      return undefined;
    },
  };
}

function readBundles(value: unknown, file: ImportedFile): ImportedFile {
  if (value === undefined || value === null) return file;
  const notes = [...file.notes];
  const skipped = [...file.skipped];
  if (!isRecord(value))
    return { ...file, skipped: [...skipped, { name: "bundles", reason: "`bundles` is not an object" }] };
  const bundles: [string, BundleConfig][] = [];
  for (const [name, bundle] of Object.entries(value)) {
    const { serverId, mode, allowTools, denyTools, ...others } = isRecord(bundle) ? bundle : {};
    const tools = {
      ...(allowTools === undefined ? {} : { allow: allowTools }),
      ...(denyTools === undefined ? {} : { deny: denyTools }),
    };
    const checked = bundleSchema.safeParse({
      servers: [serverId],
      ...(mode === undefined ? {} : { mode }),
      ...(Object.keys(tools).length > 0 ? { tools } : {}),
    });
    const isEmpty = Array.isArray(allowTools) && allowTools.length === 0;
    if (!checked.success || isEmpty)
      skipped.push({
        name: `bundles.${name}`,
        reason: isEmpty ? "`allowTools` is empty" : "it is not a valid bundle of one server",
      });
    else bundles.push([name, checked.data]);
    notes.push(...Object.keys(others).map((key) => lost(`bundles.${name}.${key}`, noEquivalent)));
  }
  return { ...file, notes, skipped, bundles: Object.fromEntries(bundles) };
}
