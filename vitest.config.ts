import { defineConfig } from "vitest/config";

/** Folders whose tests meet programs and servers of every kind, and take longer for it. */
const system = ["test/{adapters,auth,calls,cli,gateway,hub,servers,telemetry,workspace}/**/*.test.ts"];
const integration = ["test/integration/**/*.test.ts"];

/** Long enough for a busy machine: a time-out is for what hangs. */
const patience = { testTimeout: 240_000, hookTimeout: 120_000 };
/** Programs are started from `dist`. */
const built = { globalSetup: ["test/fresh-build.ts"] };
const inProcess = { isolate: false, setupFiles: ["test/property-seed.ts", "test/patience.ts"], ...patience };

/**
 * `unit` is the inner loop and takes less than a minute. `system` tries hubs, logins, the gateway and the command
 * line against real programs. `integration` runs whole programs, browsers and many processes.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...system, ...integration],
          ...inProcess,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { name: "system", include: system, ...inProcess, ...built, sequence: { groupOrder: 1 } } },
      {
        test: {
          name: "integration",
          include: integration,
          ...built,
          setupFiles: ["test/patience.ts"],
          pool: "forks",
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          ...patience,
        },
      },
    ],
  },
});
