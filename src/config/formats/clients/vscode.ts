import { isRecord } from "../../../lib/record.ts";
import { clientFormat, entriesOf, type Found } from "../client-format.ts";
import { usualFields } from "../command-fields.ts";
import { lost, noEquivalent } from "../draft.ts";
import { spellOutVariables } from "../environment.ts";
import { disabled, nested, readOnly, text, unsupported } from "../fields.ts";
import type { Path } from "../../documents/document.ts";
import type { Note } from "../format.ts";
import { applicationFile, main, projectFile } from "../paths.ts";
import { editorVariables } from "../variables.ts";

export const vscode = clientFormat({
  id: "vscode",
  title: "VS Code",
  syntax: "jsonc",
  files: (machine) => [
    main(applicationFile(machine, "Code", "User", "mcp.json")),
    applicationFile(machine, "Code - Insiders", "User", "mcp.json"),
    projectFile(machine, ".vscode", "mcp.json"),
  ],
  find: findServers,
  container: { path: () => ["servers"], around: promptsFor },
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

/** The prompts that the entries refer to and the document does not have yet. */
function promptsFor(
  document: Readonly<Record<string, unknown>>,
  entries: Readonly<Record<string, unknown>>,
): { path: Path; value: unknown }[] {
  const before: unknown[] = Array.isArray(document["inputs"]) ? document["inputs"] : [];
  const known = new Set(before.filter(isRecord).map(({ id }) => id));
  const references = JSON.stringify(entries).matchAll(/\$\{input:([^}"\\]+)\}/g);
  const missing = [...new Set([...references].map(([, id]) => id))].filter((id) => !known.has(id));
  const prompts = missing.map((id) => ({ type: "promptString", id, description: id, password: true }));
  if (before.length === 0) return prompts.length > 0 ? [{ path: ["inputs"], value: prompts }] : [];
  return prompts.map((prompt, index) => ({ path: ["inputs", before.length + index], value: prompt }));
}
