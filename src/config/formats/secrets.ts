import { isRecord } from "../../lib/record.ts";
import type { ReadDraft } from "./draft.ts";
import { textList } from "./fields.ts";
import type { Note } from "./format.ts";
import { parseTemplate } from "../template.ts";

/** Says which values look like secrets in plain text, without saying the values. */
export function findLiteralSecrets({ name, homes }: Pick<ReadDraft, "name" | "homes">): Note[] {
  const owner = constantCase(name);
  return [
    ...members(homes.get("env")).flatMap(([key, value]) =>
      isSecretName(key) && isLiteral(value) ? [plainSecret(`env.${key}`, constantCase(key))] : [],
    ),
    ...members(homes.get("headers")).flatMap(([key, value]) =>
      isSecretHeader(key) && isLiteral(value)
        ? [
            plainSecret(
              `headers.${key}`,
              `${owner}_${/^authorization$/i.test(key) ? "TOKEN" : constantCase(key)}`,
            ),
          ]
        : [],
    ),
    ...secretArguments(textList(homes.get("args")) ?? []).map((index) =>
      plainSecret(`args[${index}]`, `${owner}_TOKEN`),
    ),
    ...(isLiteral(homes.get("oauth.clientSecret"))
      ? [plainSecret("oauth.clientSecret", `${owner}_CLIENT_SECRET`)]
      : []),
    ...(holdsSecret(homes.get("url")) ? [plainSecret("url", `${owner}_TOKEN`)] : []),
  ];
}

function plainSecret(field: string, name: string): Note {
  const message = `holds what looks like a secret in plain text: run \`plugboard secret set ${name}\` and write \`\${secret:${name}}\` in its place`;
  return { kind: "needs-secret", field, message };
}

const secretWords = /(token|key|secret|password|passwd|passphrase|credentials?|_pat)$/i;

function isSecretName(name: string): boolean {
  return secretWords.test(name);
}

function isSecretHeader(name: string): boolean {
  return /^(authorization|proxy-authorization|cookie)$/i.test(name) || secretWords.test(name);
}

/** The places of values behind `--api-key`, and of arguments such as `--token=…`. */
function secretArguments(args: readonly string[]): number[] {
  return args.flatMap((argument, index) => {
    const [option = "", value] = argument.startsWith("-") ? argument.split(/=(.*)/s, 2) : [];
    if (!isSecretName(option)) return [];
    if (value !== undefined) return isLiteral(value) ? [index] : [];
    const next = args[index + 1];
    return next !== undefined && !next.startsWith("-") && isLiteral(next) ? [index + 1] : [];
  });
}

function holdsSecret(url: unknown): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  return [...new URL(url).searchParams].some(([key, value]) => isSecretName(key) && isLiteral(value));
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
