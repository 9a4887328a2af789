import { execFileSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { commandLine } from "./command-line.ts";

/** Builds `dist` before the tests if something that it is made from is newer: tests run programs from there. */
export default function build(): void {
  if (isCurrent()) return;
  execFileSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" });
}

function isCurrent(): boolean {
  const built = statSync(commandLine, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync([
    "src/**/*.ts",
    "test/fixtures/{auth,fake}/*.ts",
    "scripts/b*.ts",
    "tsconfig*.json",
  ]);
  return sources.every((source) => statSync(source).mtimeMs < built);
}
