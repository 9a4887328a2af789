import { readFileSync } from "node:fs";
import { rolldown } from "rolldown";
import type { OutputOptions, RolldownBuild } from "rolldown";

/** The command line in a few files, to make it start fast. */
export function bundleCommandLine(): Promise<RolldownBuild> {
  return rolldown({
    input: "src/cli/main.ts",
    platform: "node",
    // Needed only for remote servers and loaded late. The bundler cannot split its shared parts.
    external: [/^@modelcontextprotocol\//, /^@opentelemetry\//],
    resolve: { mainFields: ["module", "main"] },
    plugins: [withoutChildProcess()],
    // `using` is newer than the oldest Node.js that we support.
    transform: { target: "es2024" },
    treeshake: { moduleSideEffects: false },
    onLog: (level, log, handle) => {
      if (level === "warn" && log.code === "EVAL") return;
      // The adapter loads the AI SDK late; the terminal agent has it in its own chunk, which is loaded late as a whole.
      if (level === "warn" && log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
      handle(level, log);
    },
  });
}

/** Programs of the package that other parts of it start by the path of their file. */
const programs = ["dist/servers/warm/main.js"];

/**
 * All entries of the library in few files: loading hundreds of modules takes several times as long. Packages stay outside,
 * except for zod, of which we need a small part.
 */
export function bundleLibrary(): Promise<RolldownBuild> {
  return rolldown({
    input: {
      ...Object.fromEntries(libraryFiles().map((file) => [nameOf(file), sourceOf(file)])),
      [requireRuntime]: "src/lib/require-runtime.ts",
    },
    platform: "node",
    external: (id) => /^[@\w]/.test(id) && !/^(?:zod\b|@oxc-project\/|[a-z]:\\)/i.test(id),
    transform: { target: "es2024" },
    // Ours may do something when they are loaded: one refuses old runtimes.
    treeshake: { moduleSideEffects: (id) => !id.includes("/node_modules/") },
  });
}

/** The files of a library. What refuses old runtimes comes first: they may lack what the other files are made of. */
export const libraryOutput: OutputOptions = {
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  banner: ({ isEntry, name }) =>
    isEntry && name !== requireRuntime
      ? `import "${"../".repeat(name.split("/").length - 1) || "./"}${requireRuntime}.js";`
      : "",
};

const requireRuntime = "chunks/require-runtime";

/** The built files that others import or start. */
export function libraryFiles(): string[] {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  const entries = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.default.replace("./", "")],
  );
  return [...entries.filter((file) => !file.startsWith("dist/testing/")), ...programs];
}

function nameOf(file: string): string {
  return file.replace("dist/", "").replace(/\.js$/, "");
}

function sourceOf(file: string): string {
  return `src/${nameOf(file)}.ts`;
}

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
