import { execFileSync } from "node:child_process";
import { chmod, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

/** Builds the library and its test servers with tsc, file by file. Only the command line is bundled, to make it start fast. */
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

await rm("dist", { recursive: true, force: true, maxRetries: 20 });
for (const config of ["tsconfig.build.json", "tsconfig.testing.json"]) {
  execFileSync(process.execPath, [join(typescript, "bin", "tsc"), "-p", config], { stdio: "inherit" });
}

const bundle = await rolldown({
  input: "src/cli/main.ts",
  platform: "node",
  // Needed only for remote servers and loaded late. The bundler cannot split its shared parts.
  external: [/^@modelcontextprotocol\//],
  resolve: { mainFields: ["module", "main"] },
  plugins: [withoutChildProcess()],
  treeshake: { moduleSideEffects: false },
  onLog: (level, log, handle) => {
    if (level === "warn" && log.code === "EVAL") return;
    // The adapter loads the SDK late; the terminal agent has it in its own chunk, which is loaded late as a whole.
    if (level === "warn" && log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
    handle(level, log);
  },
});
await bundle.write({
  dir: "dist/cli",
  format: "cjs",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  minify: true,
});
await bundle.close();
// CommonJS starts faster: there is no module graph to link, and built-in modules need no wrapper.
await writeFile("dist/cli/package.json", '{ "type": "commonjs" }\n');
await chmod("dist/cli/main.js", 0o755);

/** Commander can run programs as subcommands. We never do, and loading the module for it would slow down every start. */
function withoutChildProcess() {
  const stub = "\0no-child-process";
  return {
    name: "without-child-process",
    resolveId: (source: string, importer?: string) =>
      source === "node:child_process" && importer?.includes("/commander/") ? stub : null,
    load: (id: string) => (id === stub ? "export default {};" : null),
  };
}
