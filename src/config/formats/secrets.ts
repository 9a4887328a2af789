import { commandWords, shellWord, splitArgv } from "../../lib/argv.ts";
import { isKnownToken } from "../../lib/plain-word.ts";
import { literalSecrets, replaceLiteralSecrets, withReplacements } from "../literal-secrets.ts";
import { secretInArgument } from "../show/arguments.ts";
import type { ServerConfig } from "../server-schema.ts";
import type { ReadDraft } from "./draft.ts";
import { unflatten } from "./flat-config.ts";
import type { Note } from "./format.ts";

/** Reports which values look like secrets in plain text, without repeating the values. */
export function findLiteralSecrets({ name, config }: Pick<ReadDraft, "name" | "config">): Note[] {
  return literalSecrets(name, unflatten(config)).map(({ field, name: secret }) => ({
    kind: "needs-secret",
    field,
    message: `seems to contain a secret in plain text: run \`plugboard secret set ${shellWord(secret)}\` and write \`\${secret:${secret}}\` instead`,
  }));
}

/**
 * The entry with every value that seems to be a secret in plain text replaced by a reference, so that it is never
 * written into another client's file, and a note on each.
 */
export function withoutLiteralSecrets(
  name: string,
  config: ServerConfig,
): { config: ServerConfig; notes: Note[] } {
  const notes: Note[] = [];
  const changes = replaceLiteralSecrets(name, config, ({ field, name: secret }) => {
    const message = `is a secret in plain text, which is not copied; it is written as the secret \`${secret}\``;
    notes.push({ kind: "needs-secret", field, message });
    return `\${secret:${secret}}`;
  });
  return { config: withoutSecretHelper(withReplacements(config, changes), notes), notes };
}

/** References are not expanded in `headersHelper`, so one with a secret is left out as a whole. */
function withoutSecretHelper(config: ServerConfig, notes: Note[]): ServerConfig {
  const { headersHelper, ...others } = config;
  const words = typeof headersHelper === "string" ? commandWords(headersHelper) : headersHelper;
  if (!words || !hasSecret(words)) return config;
  const message = "seems to contain a secret in plain text, which is not copied; enter the command by hand";
  notes.push({ kind: "needs-secret", field: "headersHelper", message });
  return others;
}

/** Also in the words of a script, as in `sh -c`. */
function hasSecret(words: readonly string[]): boolean {
  const all = words.flatMap((word) => (/\s/.test(word) ? [word, ...splitArgv(word)] : [word]));
  return all.some((word, index) => isKnownToken(word) || isPlainSecret(secretInArgument(all, index)));
}

function isPlainSecret(text: string | undefined): boolean {
  return text !== undefined && !/^(?:(?:Bearer|Basic|Token) +)?[$`]/i.test(text);
}
