// Builds after `npm ci`, which runs `preprepare` like `prepare`. Only about a script of the latter name npm warns everybody
// who installs a packed file. The Node.js that it finds may be too old to run the build: then this says so.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync("package.json", "utf8"));
const oldest = engines.node.replace(">=", "");
const { node } = process.versions;

if (node.localeCompare(oldest, "en", { numeric: true }) < 0) {
  console.error(`Plugboard needs Node.js ${oldest} or newer; this is Node.js ${node}.`);
  process.exitCode = 1;
} else {
  execFileSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" });
}
