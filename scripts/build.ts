import { execFileSync } from "node:child_process";
import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { OutputOptions, RolldownBuild } from "rolldown";
import { bundleCommandLine, bundleLibrary, libraryOutput } from "./bundle.ts";
import { licenceNotices } from "./licences.ts";

/**
 * Builds the types of the library and its test servers with tsc, and bundles the library and the command line. The last
 * build stays until all of it can be replaced: a program may be running from it.
 */
const next = `dist.next-${process.pid}`;
const old = `dist.old-${process.pid}`;
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

for (const args of [
  ["tsconfig.build.json", "--outDir", next, "--emitDeclarationOnly"],
  ["tsconfig.testing.json", "--outDir", join(next, "testing")],
]) {
  execFileSync(process.execPath, [join(typescript, "bin", "tsc"), "-p", ...args], { stdio: "inherit" });
}

await write("The library", await bundleLibrary(), { ...libraryOutput, dir: next });
// CommonJS starts faster: there is no module graph to link, and built-in modules need no wrapper.
await write("The command line", await bundleCommandLine(), {
  dir: join(next, "cli"),
  format: "cjs",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  minify: true,
});
await writeFile(join(next, "cli/package.json"), '{ "type": "commonjs" }\n');
await chmod(join(next, "cli/main.js"), 0o755);

await rename("dist", old).catch(() => undefined);
await rename(next, "dist");
await rm(old, { recursive: true, force: true, maxRetries: 20 });

/** Writes a bundle, and beside it the licences of what is in it. */
async function write(
  what: string,
  bundle: RolldownBuild,
  options: OutputOptions & { dir: string },
): Promise<void> {
  const { output } = await bundle.write(options);
  await bundle.close();
  const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
  await writeFile(join(options.dir, "THIRD_PARTY_LICENSES.txt"), licenceNotices(what, modules));
}
