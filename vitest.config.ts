import { globSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Folders whose tests meet programs and servers of every kind, and take longer for it. */
const system = [
  "test/{adapters,auth,calls,cli,gateway,hub,servers,telemetry,workspace}/**/*.test.ts",
  // They install the package and run it.
  "test/house/{adapters,entries,package}.test.ts",
];
const integration = ["test/integration/**/*.test.ts"];
/** What is tried a few times, or with one of each kind, by the others, and thoroughly by `npm run test:long`. */
const long = globSync("test/**/*.test.ts").filter((path) =>
  readFileSync(path, "utf8").includes('/rounds.ts"'),
);

/** Most tests wait for programs most of the time. */
const workers = (least: number) => ({ maxWorkers: Math.max(least, availableParallelism()) });
/** Long enough for a busy machine: a time-out is for what hangs. */
const patience = { testTimeout: 240_000, hookTimeout: 120_000 };
/** Programs that tests start from sources are compiled once. */
const env = { NODE_COMPILE_CACHE: join(tmpdir(), "plugboard-tests") };
const inProcess = {
  isolate: false,
  setupFiles: ["test/property-seed.ts", "test/patience.ts"],
  env,
  ...patience,
};
/** Other programs are started from `dist`. */
const built = { globalSetup: ["test/fresh-build.ts"] };
const inForks = { ...built, setupFiles: ["test/patience.ts"], pool: "forks" as const, ...patience };

/**
 * `unit` is the inner loop and takes less than a minute. `system` tries hubs, logins, the gateway and the command
 * line against real programs. `integration` runs whole programs, browsers and many processes. `long` is for a
 * machine that has the time.
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
          ...workers(2),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "system",
          include: system,
          ...inProcess,
          ...built,
          ...workers(3),
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "integration",
          include: integration,
          ...inForks,
          env,
          ...workers(3),
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "long",
          include: long,
          ...inForks,
          env: { ...env, PLUGBOARD_TESTS: "long" },
          ...workers(2),
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
