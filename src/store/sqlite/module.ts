import type * as sqlite from "node:sqlite";

/** Undefined if Node was built without SQLite. Synchronous, so that no other warning can be suppressed meanwhile. */
export function loadSqlite(): typeof sqlite | undefined {
  return withoutExperimentalWarning(() => process.getBuiltinModule("node:sqlite"));
}

/** Node 22 prints a warning that SQLite is experimental, which does not concern users of a command line. */
export function withoutExperimentalWarning<T>(load: () => T): T {
  // oxlint-disable-next-line typescript/unbound-method -- put back as it was, and applied to `process` below
  const emitWarning = process.emitWarning;
  process.emitWarning = (...args: unknown[]) => {
    const isExperimental = args.some((arg) => arg === "ExperimentalWarning" || hasExperimentalType(arg));
    if (!isExperimental) Reflect.apply(emitWarning, process, args);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function hasExperimentalType(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    ("type" in value && value.type === "ExperimentalWarning") ||
    ("name" in value && value.name === "ExperimentalWarning")
  );
}
