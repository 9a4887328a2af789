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
If a file is named, commands that change servers change that file; \`add\` and \`import\` create it. Files are UTF-8, with or without a byte order mark.

**References** in \`command args env url headers cwd oauth network\` are expanded as late as possible, and only in memory:
\`\${VAR}\`, \`\${VAR:-default}\`, \`\${secret:NAME}\` (the vault, the variable NAME, then your [\`.env\` files](secrets.md#env-files)), \`\${file:path}\` (relative to the
configuration file), \`\${cmd:program args}\` (no shell, 10 s). \`$\${\` is a literal \`\${\`. If a value is missing, only that server is
set aside, with a message that names the value.

**Mistakes.** A mistake inside of one entry concerns only that server or bundle. But rules must not get lost: if a file of your own
(user, local, named, in the environment) cannot be parsed, or its \`approval\`, \`elicitation\`, \`mcpServers\` or \`store\` has a mistake, then whatever
starts or uses servers refuses to work until it is corrected (\`config-unreadable\`, \`config-invalid\`). \`list\`, \`get\`, \`explain\`, \`doctor\` and
\`config\` show the mistake and go on with the rest, and so does a hub with \`lostRules: "ignore"\`. A project's mistake concerns only the
project, and a running \`serve\` keeps what it had.

**Trust.** A project's files have no effect until you review and allow them with \`plugboard trust\`, which shows what an entry
runs, sends and reads. Trust applies to the exact content of one entry in one project, together with the project's scripts that it
names (\`node ./srv.js\`); after any change you are asked again. \`plugboard trust --list\` shows what you trusted, \`--revoke\` and
\`--purge\` take it back. [Decision 0004](decisions/0004-trust-by-content.md) says what exactly is covered. A file named with \`--config\` is trusted. A
\`PLUGBOARD_CONFIG\` that points into the project, and \`XDG_*\` folders inside it, are treated like the project's files. A folder that
contains your home (or is it) is no project in this sense.

**Managed policy** (\`/etc/plugboard/managed.json\`, on macOS \`/Library/Application Support/plugboard/\`, on Windows
\`C:\\ProgramData\\plugboard\\\`; no variable moves it): \`mcpServers\` is an exclusive set: no other server, and no other content under
one of its names, is used, and \`add\` fails. \`allowedMcpServers\` and \`deniedMcpServers\` contain rules \`{ "serverName" }\`,
\`{ "serverCommand": ["npx", "-y", "x"] }\` (exact) or \`{ "serverUrl": "https://*.example/mcp" }\`. The policy holds for files,
\`add\`, \`import\`, plugins and servers in code (\`createHub({ servers })\`, \`hub.add\`), and a new one for every server that is added or started, and, once it is loaded, for running ones too.

- \`approval\` can only make the user's rules about calls stricter; see [Approval](approval.md#the-managed-policy).
- Deny always wins. If the allow list has rules for commands (or URLs), each command (or URL) must match one of them; a matching
  name is not enough.
- A URL rule covers everything below its path by whole segments, every query, and every port if it names none. Hosts and paths are compared
  normalised (capitals, final dot, escapes, \`//\`, \`..\`). A URL that careless servers read differently must be allowed in every reading, and
  is denied in any; a denied query also among other parameters. \`*\` is any text within one part: \`*://10.*\` is every address that begins
  with 10. Redirects obey the rules too. Hosts are compared by name, not by the address behind it: to be sure, allow instead of denying.
- A command rule means the program that Plugboard's own PATH finds, whatever PATH the entry sets, with exactly these arguments. An
  entry that sets a variable which loads other code (\`NODE_OPTIONS\`, \`LD_PRELOAD\`, \`HOME\`, …), or a PATH with folders that Plugboard's own
  does not have, is not covered by a rule that allows. The working folder is free, so write absolute paths in rules. What an entry's
  \`headersHelper\` and \`\${cmd:…}\` run is no server, and no rule is about it.
- Values are judged when they are known, before anything is started, sent or run. Under rules for URLs (or commands), \`\${cmd:…}\` may
  not decide the URL (or command).
- A policy that cannot be read (an empty file and a link to nothing count), or with a rule that denies nothing because it is misspelt,
  allows nothing. A rule that allows nothing is reported by \`doctor\`.

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
