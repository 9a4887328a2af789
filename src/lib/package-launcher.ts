import { basename } from "node:path";

/** Where a launcher downloads from, which decides what it reads of the environment. */
export type Ecosystem = "npm" | "python" | "deno" | "container";

interface Launcher {
  programs: RegExp;
  /** The words that must follow; none if the program alone suffices. */
  verbs?: readonly string[];
  ecosystem: Ecosystem;
  /** Its command line names the package to download. */
  namesPackage?: true;
}

const launchers: readonly Launcher[] = [
  { programs: /^(?:npx|pnpx|bunx)$/, ecosystem: "npm", namesPackage: true },
  { programs: /^npm$/, verbs: ["exec", "x"], ecosystem: "npm", namesPackage: true },
  { programs: /^(?:pnpm|yarn)$/, verbs: ["dlx"], ecosystem: "npm", namesPackage: true },
  { programs: /^bun$/, verbs: ["x"], ecosystem: "npm", namesPackage: true },
  { programs: /^uvx$/, ecosystem: "python", namesPackage: true },
  { programs: /^pipx$/, verbs: ["run"], ecosystem: "python", namesPackage: true },
  { programs: /^uv$/, verbs: ["tool run", "tool uvx"], ecosystem: "python", namesPackage: true },
  // These run what a project describes, and download what it needs.
  { programs: /^(?:npm|pnpm|yarn)$/, verbs: ["run", "exec"], ecosystem: "npm" },
  { programs: /^uv$/, verbs: ["run"], ecosystem: "python" },
  { programs: /^deno$/, verbs: ["run", "x"], ecosystem: "deno" },
  { programs: /^(?:docker|podman)$/, ecosystem: "container" },
];

/** A launcher at the start of a command line, and the words that are left for it. */
export interface Launched {
  program: string;
  ecosystem: Ecosystem;
  namesPackage: boolean;
  rest: string[];
}

/** The launcher that a command line starts: a program that downloads the server before it runs it. */
export function packageLauncher(words: readonly string[]): Launched | undefined {
  const [first = "", ...rest] = words;
  const program = programName(first);
  for (const { programs, verbs = [""], ecosystem, namesPackage = false } of launchers) {
    if (!programs.test(program)) continue;
    const verb = verbs.map((text) => text.split(" ").filter(Boolean)).find((one) => startsWith(rest, one));
    if (verb) return { program, ecosystem, namesPackage, rest: rest.slice(verb.length) };
  }
  return undefined;
}

/** Shells and programs that start another one: `sh -c "npx …"`, `env A=1 npx …`, `cmd /c npx …`. */
const wrappers =
  /^(?:(?:ba|z|da|k|fi)?sh|cmd|env|nice|ionice|timeout|nohup|setsid|stdbuf|time|exec|sudo|doas|mise)$/;

/** The same, also behind a shell or another program that starts it. */
export function wrappedLauncher(line: readonly string[]): Launched | undefined {
  return wrappers.test(programName(line[0] ?? "")) ? anyLauncher(line) : packageLauncher(line);
}

/** The first launcher anywhere in a command line, in scripts too. */
export function anyLauncher(line: readonly string[]): Launched | undefined {
  const words = line.flatMap((word) => (/\s/.test(word) ? word.split(/[\s;&|"']+/).filter(Boolean) : [word]));
  for (let at = 0; at < words.length; at++) {
    const found = packageLauncher(words.slice(at));
    if (found) return found;
  }
  return undefined;
}

/** `npx` for `/usr/bin/npx` and `npx.cmd`. */
export function programName(command: string): string {
  return basename(command.replaceAll("\\", "/")).replace(/\.(?:exe|cmd|ps1)$/i, "");
}

function startsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word);
}
