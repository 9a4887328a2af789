import { isRecord } from "../../lib/record.ts";
import { looksSecret, looksSecretParameter } from "../../lib/secret-words.ts";
import { secretInArgument } from "../show.ts";
import type { ReadDraft } from "./draft.ts";
import { textList } from "./fields.ts";
import type { Note } from "./format.ts";
import { parseTemplate } from "../template.ts";

/** Reports which values look like secrets in plain text, without repeating the values. */
export function findLiteralSecrets({ name, config }: Pick<ReadDraft, "name" | "config">): Note[] {
  const owner = constantCase(name);
  return [
    ...members(config.get("env")).flatMap(([key, value]) =>
      looksSecret(key) && isLiteral(value) ? [plainSecret(`env.${key}`, constantCase(key))] : [],
    ),
    ...members(config.get("headers")).flatMap(([key, value]) =>
      looksSecret(key) && isLiteral(value)
        ? [
            plainSecret(
              `headers.${key}`,
              `${owner}_${/^authorization$/i.test(key) ? "TOKEN" : constantCase(key)}`,
            ),
          ]
        : [],
    ),
    ...secretArguments(textList(config.get("args")) ?? []).map((index) =>
      plainSecret(`args[${index}]`, `${owner}_TOKEN`),
    ),
    ...(isLiteral(config.get("oauth.clientSecret"))
      ? [plainSecret("oauth.clientSecret", `${owner}_CLIENT_SECRET`)]
      : []),
    ...(hasLiteralSecret(config.get("url")) ? [plainSecret("url", `${owner}_TOKEN`)] : []),
  ];
}

function plainSecret(field: string, name: string): Note {
  const message = `seems to contain a secret in plain text: run \`plugboard secret set ${name}\` and write \`\${secret:${name}}\` instead`;
  return { kind: "needs-secret", field, message };
}

function secretArguments(args: readonly string[]): number[] {
  return [...args.keys()].filter((index) => isLiteral(secretInArgument(args, index)));
}

function hasLiteralSecret(url: unknown): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  return [...new URL(url).searchParams].some(([key, value]) => looksSecretParameter(key) && isLiteral(value));
}

function isLiteral(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value !== "" &&
    parseTemplate(value).every((part) => typeof part === "string")
  );
}

function members(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

function constantCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
}
