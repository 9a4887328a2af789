import { packageLauncher, programName } from "../../lib/package-launcher.ts";

/** The package that a launcher such as `npx -y` runs, and the arguments after it. */
export function launchedPackage(
  command: string,
  args: readonly string[],
): { name: string; rest: string[] } | undefined {
  const isCmd = programName(command) === "cmd" && /^\/c$/i.test(args[0] ?? "");
  const words = isCmd ? args.slice(1) : [command, ...args];
  const launched = packageLauncher(words);
  const isNpm = launched?.namesPackage && launched.ecosystem === "npm";
  const rest = isNpm
    ? withoutOptions(launched.rest)
    : words.map((word, at) => (at === 0 ? programName(word) : word));
  const name = rest.shift();
  return name === undefined ? undefined : { name: packageName(name), rest };
}

function withoutOptions(words: string[]): string[] {
  while (words[0]?.startsWith("-")) {
    const option = words.shift();
    if (option === "-p" || option === "--package") words.shift();
  }
  return words;
}

/** `mcp-remote@1.2.3` is `mcp-remote`; the `@` of a scope stays. */
function packageName(specifier: string): string {
  return specifier.replace(/(?<=.)@.*$/, "");
}
