/** The package that a launcher such as `npx -y` runs, and the arguments after it. */
export function launchedPackage(
  command: string,
  args: readonly string[],
): { name: string; rest: string[] } | undefined {
  const words = [programName(command), ...args];
  if (words[0] === "cmd" && /^\/c$/i.test(words[1] ?? "")) words.splice(0, 3, programName(words[2] ?? ""));
  const prefix = launchers.find((launcher) => launcher.every((word, index) => words[index] === word));
  const rest = prefix ? withoutOptions(words.slice(prefix.length)) : words;
  const name = rest.shift();
  return name === undefined ? undefined : { name: packageName(name), rest };
}

const launchers = [
  ["npx"],
  ["bunx"],
  ["pnpx"],
  ["pnpm", "dlx"],
  ["yarn", "dlx"],
  ["npm", "exec"],
  ["bun", "x"],
];

function withoutOptions(words: string[]): string[] {
  while (words[0]?.startsWith("-")) {
    const option = words.shift();
    if (option === "-p" || option === "--package") words.shift();
  }
  return words;
}

function programName(command: string): string {
  const last = command.split(/[\\/]/).at(-1) ?? command;
  return last.replace(/\.(cmd|exe|ps1)$/i, "");
}

/** `mcp-remote@1.2.3` is `mcp-remote`; the `@` of a scope stays. */
function packageName(specifier: string): string {
  return specifier.replace(/(?<=.)@.*$/, "");
}
