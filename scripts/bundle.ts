import { rolldown } from "rolldown";
import type { RolldownBuild } from "rolldown";

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
