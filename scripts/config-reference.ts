interface JsonSchema {
  description?: string;
  examples?: unknown[];
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
}

/** Generates docs/configuration.md from the schema that validates the files. */
export function configReference(schema: JsonSchema): string {
  const { mcpServers, servers: _servers, $schema: _schema, bundles, ...settings } = schema.properties ?? {};
  return `# Configuration

<!-- Written by \`npm run generate\` from src/config/schema.ts. Do not edit. -->

Configuration files are JSON (with comments and trailing commas), TOML or YAML. Point your editor at the schema with
\`"$schema": "./node_modules/plugboard/config.schema.json"\`, or print it with \`plugboard config schema\`.

| scope | file | shared |
|---|---|---|
| local | in your own state folder, by project (\`plugboard config path\`) | no |
| project | \`.mcp.json\`, \`plugboard.{json,jsonc,toml,yaml}\` or \`.plugboard/config.*\`, from the current folder up to the repository's root | yes |
| user | \`~/.config/plugboard/config.{json,jsonc,toml,yaml}\` | no |
| managed | \`/etc/plugboard/managed.json\`, written by the administrator | – |

**Precedence**, highest first: overrides from the calling program, \`PLUGBOARD_CONFIG_JSON\`, either a named file (\`--config\`,
\`PLUGBOARD_CONFIG\`) or the local, project and user scopes, and plugins. Entries of servers and bundles are never merged: the
whole entry with the highest precedence wins. Other top-level keys are merged key by key. The managed policy restricts all of them.

**References** in \`command args env url headers cwd oauth network\` are expanded as late as possible, and only in memory:
\`\${VAR}\`, \`\${VAR:-default}\`, \`\${secret:NAME}\` (the vault, then the variable NAME), \`\${file:path}\` (relative to the
configuration file), \`\${cmd:program args}\` (no shell, 10 s). \`$\${\` is a literal \`\${\`. If a value is missing, only that server is
set aside, with a message that names the value.

**Trust.** A project's files have no effect until you review and allow them with \`plugboard trust\`. Trust applies to the exact
content of one entry in one project; after any change you are asked again. A file named with \`--config\` is trusted. A
\`PLUGBOARD_CONFIG\` that points into the project, and \`XDG_*\` folders inside it, are treated like the project's files.

**Managed policy**: \`mcpServers\` is an exclusive set: no other server is used, and \`add\` fails.
\`allowedMcpServers\` and \`deniedMcpServers\` contain rules \`{ "serverName" }\`, \`{ "serverCommand": ["npx", "-y", "x"] }\` (exact)
or \`{ "serverUrl": "https://*.example/*" }\`. Deny always wins. If the allow list has rules for commands (or URLs), each
command (or URL) must match one of them; a matching name is not enough. An unreadable policy allows nothing.

## A server: \`mcpServers.<name>\`

Either \`command\` or \`url\` is required; everything else is optional.

${fields(valueSchema(mcpServers)?.properties ?? {}, "")}
## A bundle: \`bundles.<name>\`

${fields(valueSchema(bundles)?.properties ?? {}, "")}
## Top level

${fields(settings, "")}`;
}

function valueSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

function fields(properties: Record<string, JsonSchema>, prefix: string): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const example = schema.examples?.[0];
      const shown = example === undefined ? "" : `\n  \`"${name}": ${JSON.stringify(example)}\``;
      const nested = objectOf(schema);
      const inner = nested ? fields(nested, `${prefix}${name}.`) : "";
      return `- **\`${prefix}${name}\`** (${kind(schema)}) ${schema.description ?? ""}${shown}\n${inner}`;
    })
    .join("");
}

function objectOf(schema: JsonSchema): Record<string, JsonSchema> | undefined {
  return schema.properties ?? schema.anyOf?.find((option) => option.properties)?.properties;
}

function kind(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(kind))].join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items ?? {})}`;
  if (schema.type === "integer") return "whole number";
  if (schema.type === "boolean") return "true or false";
  return String(schema.type ?? "anything");
}
