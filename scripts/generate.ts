import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { configJsonSchema } from "../src/config.ts";
import { errorTable } from "../src/host.ts";
import { bridgeReference } from "./bridge-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { configReference } from "./config-reference.ts";
import { errorReference } from "./error-reference.ts";
import { eventReference } from "./event-reference.ts";
import { libraryReference } from "./library-reference.ts";

/** Writes all generated files. `--check` changes nothing and fails if a file is out of date. */
const files: Record<string, string> = {
  "config.schema.json": `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  "docs/configuration.md": configReference(configJsonSchema()),
  "docs/errors.md": errorReference(errorTable),
  "docs/cli.md": await cliReference(),
  "docs/bridge.md": bridgeReference(),
  "docs/events.md": eventReference(),
  "docs/library.md": libraryReference(await readFile("docs/library.md", "utf8")),
};

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
for (const [path, text] of Object.entries(files)) {
  const current = await readFile(path, "utf8").catch(() => "");
  if (current === text) continue;
  stale.push(path);
  if (isCheck) continue;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
if (stale.length > 0) console.log(`${isCheck ? "out of date" : "written"}: ${stale.join(", ")}`);
if (isCheck && stale.length > 0) process.exitCode = 1;
