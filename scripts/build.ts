import { execFileSync } from "node:child_process";
import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bundleCommandLine } from "./bundle.ts";
import { licenceNotices } from "./licences.ts";

/**
 * Builds the library and its test servers with tsc, file by file. Only the command line is bundled. The last build stays
 * until all of it can be replaced: a program may be running from it.
 */
const next = `dist.next-${process.pid}`;
const old = `dist.old-${process.pid}`;
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

for (const [config, folder] of [
  ["tsconfig.build.json", next],
  ["tsconfig.testing.json", join(next, "testing")],
] as const) {
  const args = [join(typescript, "bin", "tsc"), "-p", config, "--outDir", folder];
  execFileSync(process.execPath, args, { stdio: "inherit" });
}

const bundle = await bundleCommandLine();
const { output } = await bundle.write({
  dir: join(next, "cli"),
  format: "cjs",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  minify: true,
});
await bundle.close();
const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
await writeFile(join(next, "cli/THIRD_PARTY_LICENSES.txt"), licenceNotices(modules));
// CommonJS starts faster: there is no module graph to link, and built-in modules need no wrapper.
await writeFile(join(next, "cli/package.json"), '{ "type": "commonjs" }\n');
await chmod(join(next, "cli/main.js"), 0o755);

await rename("dist", old).catch(() => undefined);
await rename(next, "dist");
await rm(old, { recursive: true, force: true, maxRetries: 20 });
