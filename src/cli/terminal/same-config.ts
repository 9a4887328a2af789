import { shellWord } from "../../lib/argv.ts";

/** Commands that say something else, or nothing, about another configuration. */
const dependent =
  /`plugboard ((?:list|tools|status|lock|verify|trust|get|explain|check|enable|login)\b[^`]*)`/g;

/** Adds the `--config` of this command to the commands that a hint names, so that they mean the same servers. */
export function withSameConfig(hint: string, file: string | undefined): string {
  if (file === undefined) return hint;
  return hint
    .replaceAll("`plugboard config validate`", () => `\`plugboard config validate ${shellWord(file)}\``)
    .replaceAll(dependent, (whole, line: string) =>
      line.includes("--config") || line.includes("--help")
        ? whole
        : `\`plugboard ${line} --config ${shellWord(file)}\``,
    );
}

/** The file after `--config`, before a `--`. */
export function configOf(argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  const at = words.indexOf("--config");
  return at === -1
    ? words.find((word) => word.startsWith("--config="))?.slice("--config=".length)
    : words[at + 1];
}
