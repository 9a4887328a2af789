import { anyLauncher } from "../lib/package-launcher.ts";

/** Options before the package that have a value of their own. */
const withValue =
  /^(?:--(?:registry|cache|prefix|python|index|index-url|default-index|with|spec|call)|-c|-w)$/;
const packageOption = /^(?:--package|--from|-p)(?:=(.*))?$/;

/**
 * The package that a command line downloads in whatever version is the newest then, so that what runs can change at any
 * time; undefined if there is none, or if its version is fixed.
 */
export function unpinnedPackage(line: readonly string[]): string | undefined {
  const launched = anyLauncher(line);
  if (!launched?.namesPackage) return undefined;
  const name = packageIn(launched.rest);
  if (name === undefined || name.includes("${") || /^[./~]/.test(name)) return undefined;
  return isPinned(name, launched.ecosystem === "python") ? undefined : name;
}

function packageIn(words: readonly string[]): string | undefined {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const option = packageOption.exec(word);
    // For uvx, `-p` is a version of Python, which cannot be taken for a package.
    if (option && !/^[\d.]+$/.test(option[1] ?? words[index + 1] ?? "")) return option[1] ?? words[index + 1];
    if (option || withValue.test(word)) index += option?.[1] === undefined ? 1 : 0;
    else if (!word.startsWith("-")) return word;
  }
  return undefined;
}

/** A tag (`@latest`) and a range (`@^1.2`, `>=1`) mean the newest that fits. */
function isPinned(name: string, isPython: boolean): boolean {
  // Of an archive or a repository, only a commit stays what it is.
  if (/:|^[^@][^/]*\/./.test(name)) return /[#@/][0-9a-f]{40}\b/.test(name);
  const version = /^.[^@=<>~!]*(?:===?|@)([^@]+)$/.exec(name)?.[1] ?? "";
  return isPython ? /^\d[\w.+!-]*$/.test(version) : /^v?\d+\.\d+\.\d+[\w.+-]*$/.test(version);
}
