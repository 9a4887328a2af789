import { isRecord } from "../../../lib/record.ts";
import { shellWord } from "../../../lib/argv.ts";
import { clientFormat, settingsFile } from "../client-format.ts";
import type { ReadDraft } from "../draft.ts";
import { duration, enabled, record, type Rule, text, textList, texts, label } from "../fields.ts";
import { applicationFile, dotConfigFile } from "../paths.ts";
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
  find: settingsFile("extensions").find,
  variables: noVariables,
  remote: "http",
  fields: {
    type: extensionType(),
    name: label,
    enabled,
    cmd: text("command"),
    args: texts("args"),
    envs: record("env"),
    env_keys: { read: readSecretNames },
    uri: text("url"),
    headers: record("headers"),
    timeout: duration("callTimeoutMs", "seconds"),
    available_tools: allowed({ empty: "every tool" }),
  },
});

function extensionType(): Rule {
  const remoteOrLocal = transport(usualWords);
  const own = ["builtin", "platform", "frontend", "inline_python"];
  return {
    read: (value, field, draft) =>
      own.some((type) => type === value) ? "it is built into Goose" : remoteOrLocal.read(value, field, draft),
  };
}

/** Names of secrets that Goose keeps in the system's keyring. */
function readSecretNames(value: unknown, field: string, draft: ReadDraft): string | undefined {
  const names = textList(value);
  if (!names) return `\`${field}\` is not a list of names`;
  const env = draft.config.get("env");
  const secrets = names.map((name) => [name, `\${secret:${name}}`] as const);
  if (names.length > 0) {
    draft.config.set("env", { ...Object.fromEntries(secrets), ...(isRecord(env) ? env : {}) });
  }
  for (const name of names) {
    const message = `Goose keeps this secret in the system keyring, which Plugboard does not read: run \`plugboard secret set ${shellWord(name)}\``;
    draft.notes.push({ kind: "needs-secret", field: `${field}.${name}`, message });
  }
  return undefined;
}
