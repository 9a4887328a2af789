// Gives the package a README for those who install it, made from the repository's. `npm pack` and `npm publish` run it
// before (`write`) and after (`restore`) they pack. Without an argument it prints that README.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const readme = "README.md";
/** The repository's own, while the other one is in its place. */
const kept = ".README.repository.md";
const [mode] = process.argv.slice(2);

// An earlier run may have been interrupted.
if (existsSync(kept)) renameSync(kept, readme);
if (mode !== "restore") {
  const own = readFileSync(readme, "utf8");
  const text = forUsers(own);
  if (mode === "write") {
    writeFileSync(kept, own);
    writeFileSync(readme, text);
  } else process.stdout.write(text);
}

/**
 * What stands between `<!-- repository -->` and `<!-- end -->` is only about a clone, like its `.npmrc` in what commands print.
 * A comment that begins with `package` takes its place. Links lead to files that are in the package.
 */
function forUsers(text) {
  return text
    .replaceAll(/<!-- repository -->\n[^]*?<!-- end -->\n/g, "")
    .replaceAll(/<!-- package\n([^]*?)-->\n/g, "$1")
    .replaceAll(/^ +script +\.npmrc .*\n/gm, "");
}
