import { realpathSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../host.ts";
import { isSameFile } from "../../lib/same-file.ts";

export interface OwnProgram {
  /** The script that is running. */
  program?: string | undefined;
  /** The Node.js that runs it. */
  node?: string | undefined;
}

/**
 * How another program starts this Plugboard: with absolute paths, because programs that are not started from a shell
 * often have another PATH. `isShared` is for a file that others get too, who have it elsewhere, if at all.
 */
export function ownCommand(
  { isShared = false }: { isShared?: boolean } = {},
  own: OwnProgram = {},
): string[] {
  const { program = process.argv[1] ?? "", node = process.execPath } = own;
  const path = realpathSync(program);
  // What `npx` downloaded may be gone tomorrow.
  if (isShared || /[\\/]_npx[\\/]/.test(path)) return ["npx", "-y", `plugboard@${version}`];
  // pnpm has a folder for each version; the link to it stays.
  return [lastingNode(node), /[\\/]\.pnpm[\\/]/.test(path) ? program : path];
}

/** Homebrew has a folder for each version, and a link that stays. */
function lastingNode(node: string): string {
  const [, prefix, formula] = /^(.*)[\\/]Cellar[\\/](node(?:@\d+)?)[\\/]/.exec(node) ?? [];
  if (prefix === undefined || formula === undefined) return node;
  const links = [join(prefix, "opt", formula, "bin", "node"), join(prefix, "bin", "node")];
  return links.find((link) => isSameFile(link, node)) ?? node;
}
