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

/** docs/configuration.md, from the schema that checks the files. */
export function configReference(schema: JsonSchema): string {
  const { mcpServers, servers: _servers, $schema: _schema, bundles, ...settings } = schema.properties ?? {};
  return `# Configuration

<!-- Written by \`npm run generate\` from src/config/schema.ts. Do not edit. -->

A configuration is JSON (comments and trailing commas are fine), TOML or YAML. Point your editor at the schema with
\`"$schema": "./node_modules/plugboard/config.schema.json"\`, or print it with \`plugboard config schema\`.

| scope | file | shared with others |
|---|---|---|
| local | in your own state folder, by project (\`plugboard config path\`) | no |
| project | \`.mcp.json\`, \`plugboard.{json,jsonc,toml,yaml}\` or \`.plugboard/config.*\`, from the folder up to the repository's root | yes |
| user | \`~/.config/plugboard/config.{json,jsonc,toml,yaml}\` | no |
| managed | \`/etc/plugboard/managed.json\`, written by the administrator | – |

Highest first: overrides of the calling program, \`PLUGBOARD_CONFIG_JSON\`, then either a named file (\`--config\`,
\`PLUGBOARD_CONFIG\`) or local, project and user, then plugins. A server's whole entry wins, never half of one; so does a
bundle's; other top-level keys win key by key. The managed policy narrows all of them.

**References** in \`command args env url headers cwd oauth network\` are filled in at the last moment, in memory:
\`\${VAR}\`, \`\${VAR:-default}\`, \`\${secret:NAME}\` (secret store, then the variable NAME), \`\${file:path}\` (relative to the
configuration file), \`\${cmd:program args}\` (no shell, 10 s). \`$\${\` is a literal \`\${\`. A missing value sets that one server
aside and names what is missing.

**Trust.** What a project's files bring does nothing until you have looked at it with \`plugboard trust\`. Trust is for the
exact content of one entry in one project; any change asks again. A file named with \`--config\` is trusted by being named.
\`PLUGBOARD_CONFIG\` pointing into the project, and \`XDG_*\` folders inside it, are treated as the project's.

**Managed policy**: \`mcpServers\` is an exclusive set (then nothing else is used and \`add\` refuses);
\`allowedMcpServers\` and \`deniedMcpServers\` hold rules \`{ "serverName" }\`, \`{ "serverCommand": ["npx", "-y", "x"] }\` (exact)
or \`{ "serverUrl": "https://*.example/*" }\`. Deny always wins. Where command (or URL) rules are in the allow list, commands
(URLs) must match one of them; a name alone is then not enough. A policy that cannot be read allows nothing.

## A server: \`mcpServers.<name>\`

One of \`command\` and \`url\` is needed; everything else is optional.

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
