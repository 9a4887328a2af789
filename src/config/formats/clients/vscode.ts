import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { lost, noEquivalent } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, nested, readOnly, text, unsupported } from "../fields.ts";
import type { Note } from "../format.ts";
import { applicationFile, projectFile } from "../paths.ts";
import { editorVariables } from "../variables.ts";

export const vscode = clientFormat({
  id: "vscode",
  title: "VS Code",
  syntax: "jsonc",
  files: (machine) => [
    applicationFile(machine, "Code", "User", "mcp.json"),
    applicationFile(machine, "Code - Insiders", "User", "mcp.json"),
    projectFile(machine, ".vscode", "mcp.json"),
  ],
  find: findServers,
  wrap: (entries) => {
    const inputs = promptsFor(entries);
    return inputs.length > 0 ? { inputs, servers: entries } : { servers: entries };
  },
  variables: editorVariables({ inputs: true }),
  remote: "http",
  fields: {
    ...usualFields,
    cwd: text("cwd"),
    envFile: unsupported("Plugboard does not read variables from files; list them in `env`"),
    oauth: nested({ clientId: text("oauth.clientId") }),
    disabled: readOnly(disabled),
  },
  beforeWrite: spellOutVariables,
});

/** `mcp.json`; also the `mcp` key of settings and of `customizations.vscode` in a dev container. */
function findServers(document: Record<string, unknown>): Found {
  const customizations = document["customizations"];
  const container = isRecord(customizations) ? customizations["vscode"] : undefined;
  const within = [document["mcp"], isRecord(container) ? container["mcp"] : undefined].find(isRecord);
  const root = document["servers"] === undefined && within ? within : document;
  const known = ["servers", "inputs", "$schema"];
  const others =
    root === document && within === undefined && container === undefined ? Object.keys(root) : [];
  return {
    ...entriesOf(root["servers"], "servers"),
    notes: [
      ...others.filter((key) => !known.includes(key)).map((key) => lost(key, noEquivalent)),
      ...describeInputs(root["inputs"]),
    ],
  };
}

/** A value that VS Code prompts for becomes a secret of that name; the settings of the prompt are lost. */
function describeInputs(inputs: unknown): Note[] {
  if (!Array.isArray(inputs)) return [];
  const known = ["id", "type", "description", "password"];
  return inputs.filter(isRecord).flatMap((input) =>
    Object.keys(input)
      .filter((key) => !known.includes(key))
      .map((key) => lost(`inputs.${String(input["id"])}.${key}`, "a secret has no such setting")),
  );
}

function promptsFor(entries: Record<string, unknown>): Record<string, unknown>[] {
  const references = JSON.stringify(entries).matchAll(/\$\{input:([^}"\\]+)\}/g);
  const ids = new Set([...references].map(([, id]) => id));
  return [...ids].map((id) => ({ type: "promptString", id, description: id, password: true }));
}
