import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { joinArgv } from "./argv.ts";
import { runtimeProblem } from "./runtime.ts";

// Imported first by the library's entries, so that an old runtime gets a sentence, not the first feature it lacks.
const problem = runtimeProblem(process.versions);
if (problem !== undefined) throw oneLine(`${problem}${newerNodeHere()}`);

/** An error that is printed without source line and stack trace if it is not caught. */
function oneLine(message: string): Error {
  const error = new Error(message);
  const print = (uncaught: unknown): void => {
    if (uncaught !== error) {
      // Thrown where nothing catches it: it ends the program as it would without us.
      setImmediate(() => {
        throw uncaught;
      });
      return;
    }
    process.stderr.write(`${message}\n`);
    process.exit(1);
  };
  process.once("uncaughtException", print);
  // A program that catches the error, and goes on without us, keeps its own way to fail.
  setImmediate(() => process.off("uncaughtException", print));
  return error;
}

/** What runs the same program with a newer Node.js from `node_modules`, where `npx plugboard` finds it, too. */
function newerNodeHere(): string {
  try {
    const folder = dirname(dirname(realpathSync(join("node_modules", ".bin", "node"))));
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    if (!/^\d+\.\d+\.\d+$/.test(version) || runtimeProblem({ node: version }) !== undefined) return "";
    const program = process.argv[1] === undefined ? [] : [relative("", process.argv[1])];
    return ` In this folder, \`${joinArgv(["npx", "node", ...program])}\` uses Node.js ${version}.`;
  } catch {
    return "";
  }
}
