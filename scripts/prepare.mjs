// Runs on the Node.js that `npm ci` finds, which may be too old to run the build: then it says so.
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
