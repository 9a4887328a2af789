import { isRecord } from "../../../lib/record.ts";
import { shellWord } from "../../../lib/argv.ts";
import { clientFormat, settingsFile } from "../client-format.ts";
import { lost, type ReadDraft, takeField, type WriteDraft } from "../draft.ts";
import { duration, enabled, record, type Rule, text, textList, texts, label } from "../fields.ts";
import { applicationFile, dotConfigFile } from "../paths.ts";
import { printReferences } from "../references.ts";
import { allowed } from "../tool-rules.ts";
import { transport, usualWords } from "../transport.ts";
import { noVariables } from "../variables.ts";

/** Extensions that are built into Goose are skipped. */
export const goose = clientFormat({
  id: "goose",
  title: "Goose",
  syntax: "yaml",
  files: (machine) => [
    machine.platform === "win32"
      ? applicationFile(machine, "Block", "goose", "config", "config.yaml")
      : dotConfigFile(machine, "goose", "config.yaml"),
  ],
  ...settingsFile("extensions"),
  variables: noVariables,
  remote: "http",
  fields: {
    type: extensionType(),
    name: label,
    // Goose does not read an entry that does not say whether it is enabled.
    enabled: { ...enabled, write: (draft) => takeField(draft, "enabled") !== false },
    cmd: text("command"),
    args: texts("args"),
    env_keys: { read: readSecretNames, write: writeSecretNames },
    envs: otherVariables(),
    uri: text("url"),
    headers: record("headers"),
    timeout: duration("callTimeoutMs", "seconds"),
    available_tools: allowed({ empty: "every tool" }),
  },
});

/** `envs`; the secrets in `env_keys`, which come first, are variables too. */
function otherVariables(): Rule {
  const variables = record("env");
  return {
    read: (value, field, draft) => {
      const secrets = draft.config.get("env");
      draft.config.delete("env");
      const problem = variables.read(value, field, draft);
      const env = draft.config.get("env");
      const both = { ...(isRecord(secrets) ? secrets : {}), ...(isRecord(env) ? env : {}) };
      if (Object.keys(both).length > 0) draft.config.set("env", both);
      return problem;
    },
    write: (draft, field) => variables.write?.(draft, field),
  };
}

function extensionType(): Rule {
  const remoteOrLocal = transport({ ...usualWords, http: "streamable_http" });
  const own = ["builtin", "platform", "frontend", "inline_python"];
  return {
    read: (value, field, draft) =>
      own.some((type) => type === value) ? "it is built into Goose" : remoteOrLocal.read(value, field, draft),
    write: (draft, field) => remoteOrLocal.write?.(draft, field),
  };
}

/** Names of secrets that Goose keeps in the system's keyring. */
function readSecretNames(value: unknown, field: string, draft: ReadDraft): string | undefined {
  const names = textList(value);
  if (!names) return `\`${field}\` is not a list of names`;
  const env = draft.config.get("env");
  const secrets = new Map<string, string>();
  for (const name of names) {
    const reference = printReferences([{ kind: "secret", name }]);
    if (reference === undefined) {
      draft.notes.push(lost(field, "contains a name that cannot be the name of a secret"));
      continue;
    }
    secrets.set(name, reference);
    const message = `Goose keeps this secret in the system keyring, which Plugboard does not read: run \`plugboard secret set ${shellWord(name)}\``;
    draft.notes.push({ kind: "needs-secret", field: `${field}.${name}`, message });
  }
  if (secrets.size > 0)
    draft.config.set("env", { ...Object.fromEntries(secrets), ...(isRecord(env) ? env : {}) });
  return undefined;
}

/** Values that are only a secret of the same name: Goose asks for it once and keeps it in the system's keyring. */
function writeSecretNames(draft: WriteDraft): string[] | undefined {
  const env = draft.config.get("env");
  const members = Object.entries(isRecord(env) ? env : {});
  const names = members.flatMap(([name, value]) => (value === `\${secret:${name}}` ? [name] : []));
  if (names.length === 0) return undefined;
  const rest = members.filter(([name, value]) => value !== `\${secret:${name}}`);
  if (rest.length > 0) draft.config.set("env", Object.fromEntries(rest));
  else draft.config.delete("env");
  for (const name of names) {
    const message = `Goose asks for the secret \`${name}\` and keeps it in the system keyring`;
    draft.notes.push({ kind: "needs-secret", field: `env.${name}`, message });
  }
  return names;
}
