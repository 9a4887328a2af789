import { execFileSync } from "node:child_process";
import { chmod, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bundleCommandLine } from "./bundle.ts";
import { licenceNotices } from "./licences.ts";

/** Builds the library and its test servers with tsc, file by file. Only the command line is bundled. */
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

await rm("dist", { recursive: true, force: true, maxRetries: 20 });
for (const config of ["tsconfig.build.json", "tsconfig.testing.json"]) {
  execFileSync(process.execPath, [join(typescript, "bin", "tsc"), "-p", config], { stdio: "inherit" });
}

const bundle = await bundleCommandLine();
const { output } = await bundle.write({
  dir: "dist/cli",
  format: "cjs",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  minify: true,
});
await bundle.close();
const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
await writeFile("dist/cli/THIRD_PARTY_LICENSES.txt", licenceNotices(modules));
// CommonJS starts faster: there is no module graph to link, and built-in modules need no wrapper.
await writeFile("dist/cli/package.json", '{ "type": "commonjs" }\n');
await chmod("dist/cli/main.js", 0o755);
