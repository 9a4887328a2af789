import { basename, dirname, join } from "node:path";
import { isInside } from "../../lib/folders.ts";

interface Launcher {
  programs: RegExp;
  /** Files of the folder that decide what it runs, or where it gets it from. */
  reads: readonly string[];
  /** It starts tasks that such a file describes, and the tasks start programs that the entry does not name. */
  hasTasks?: boolean;
  /** It prefers packages that are installed in the project. */
  hasPackages?: boolean;
  /** Only with this word. */
  verb?: string;
}

const compose = ["compose", "docker-compose"].flatMap((name) =>
  ["yaml", "yml"].flatMap((extension) => [`${name}.${extension}`, `${name}.override.${extension}`]),
);

const launchers: readonly Launcher[] = [
  { programs: /^(?:npx|npm|pnpm|pnpx|yarn)$/, reads: [".npmrc"], hasPackages: true },
  { programs: /^bunx?$/, reads: ["bunfig.toml", ".npmrc"], hasPackages: true },
  { programs: /^yarn$/, reads: [".yarnrc", ".yarnrc.yml", "package.json"], hasTasks: true },
  { programs: /^npm$/, reads: ["package.json"], hasTasks: true },
  { programs: /^pnpm$/, reads: ["package.json", ".pnpmfile.cjs", "pnpm-workspace.yaml"], hasTasks: true },
  { programs: /^bun$/, reads: ["package.json"], verb: "run" },
  { programs: /^deno$/, reads: ["deno.json", "deno.jsonc"] },
  { programs: /^uv$/, reads: ["uv.toml", "pyproject.toml"] },
  { programs: /^(?:poetry|pdm|hatch)$/, reads: ["pyproject.toml"], hasTasks: true },
  { programs: /^g?make$/, reads: ["GNUmakefile", "makefile", "Makefile"], hasTasks: true },
  { programs: /^just$/, reads: ["justfile", "Justfile", ".justfile"], hasTasks: true },
  { programs: /^task$/, reads: ["Taskfile.yml", "Taskfile.yaml"], hasTasks: true },
  { programs: /^rake$/, reads: ["Rakefile", "rakefile"], hasTasks: true },
  { programs: /^cargo$/, reads: ["Cargo.toml", ".cargo/config.toml", ".cargo/config"], hasTasks: true },
  { programs: /^(?:docker|podman)$/, reads: compose, verb: "compose", hasTasks: true },
  { programs: /^(?:docker|podman)-compose$/, reads: compose, hasTasks: true },
];

/**
 * The files that launchers among these words read by themselves, and where they look for packages in the project: in
 * the folder and, as most of them do, in those above it.
 */
export function launcherFiles(words: readonly string[], folder: string, home: string): string[] {
  // What is in the home folder and above is not the project's, even where the project is the home folder.
  if (isInside(folder, home)) return [];
  const found = launchersIn(words);
  const packages = found.some(({ hasPackages }) => hasPackages) ? packageNames(words) : [];
  const names = new Set([
    ...found.flatMap(({ reads }) => reads),
    ...packages.map((name) => join("node_modules", ".bin", basename(name))),
    ...packages.map((name) => join("node_modules", name)),
  ]);
  const above = foldersAbove(folder).filter((one) => !isInside(one, home));
  // Relative ones also count in other folders that the command line names.
  return [...names, ...above.flatMap((one) => [...names].map((name) => join(one, name)))];
}

/** True if what runs is described in a file of the project, beyond what the words say. */
export function runsTasks(words: readonly string[]): boolean {
  const isInstalling = words.some((word) => /^(?:exec|dlx|x|install)$/.test(word));
  return !isInstalling && launchersIn(words).some(({ hasTasks }) => hasTasks);
}

function launchersIn(words: readonly string[]): Launcher[] {
  const programs = words.map((word) => basename(word).replace(/\.(?:exe|cmd)$/i, ""));
  return launchers.filter(
    ({ programs: wanted, verb }) =>
      programs.some((name) => wanted.test(name)) && (verb === undefined || words.includes(verb)),
  );
}

/** A package or program is among the first words; the others are its arguments. */
const maxPackages = 8;

function packageNames(words: readonly string[]): string[] {
  const names = words.flatMap(
    (word) => /^(?:--[\w-]+=)?((?:@[\w.-]+\/)?[\w.-]+)(?:@.*)?$/.exec(word)?.[1] ?? [],
  );
  return names.filter((name) => !/^-|^\.+$/.test(name)).slice(0, maxPackages);
}

const maxDepth = 16;

function foldersAbove(folder: string): string[] {
  const above: string[] = [];
  for (let one = dirname(folder); above.length < maxDepth && one !== dirname(one); one = dirname(one))
    above.push(one);
  return above;
}
