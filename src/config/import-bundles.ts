import { canonicalJson } from "../lib/canonical.ts";
import { contentOf } from "./import.ts";
import type { ForeignFile, PlannedServer } from "./import.ts";
import type { LoadedConfig } from "./model.ts";
import type { WritableScope } from "./places.ts";
import type { BundleConfig } from "./schema.ts";

export interface PlannedBundle {
  name: string;
  /** Names the servers as they are called here. */
  config: BundleConfig;
  scope: WritableScope;
  from: { client: string; title: string; file: string; scope: "user" | "project" };
  /** `same`: already configured here. `taken`: the name is configured here with different content. */
  action: "add" | "same" | "taken" | "skip";
  /** Why it is skipped. */
  reason?: string;
}

/** Decides which bundles an import brings along. An existing bundle is never overwritten. */
export function planBundles(
  files: readonly ForeignFile[],
  servers: readonly PlannedServer[],
  existing: LoadedConfig,
  scope?: WritableScope,
): PlannedBundle[] {
  const planned: PlannedBundle[] = [];
  for (const file of files) {
    for (const [name, config] of Object.entries(file.imported.bundles ?? {})) {
      const { format, file: path, scope: fileScope } = file;
      const from = { client: format.id, title: format.title, file: path, scope: fileScope };
      const wanted = config.servers ?? [];
      const named = wanted.map((server) => serverName(server, path, servers, existing));
      const missing = wanted.find((_, index) => named[index] === undefined);
      const renamed = { ...config, servers: named.filter((server) => server !== undefined) };
      const plan = { name, config: renamed, scope: scope ?? fileScope, from };
      if (missing !== undefined)
        planned.push({ ...plan, action: "skip", reason: `its server "${missing}" is not imported` });
      else {
        const other =
          existing.bundles.get(name)?.config ?? planned.find((one) => one.name === name)?.config ?? undefined;
        const isSame = other !== undefined && canonicalJson(other) === canonicalJson(renamed);
        const isTaken = existing.bundles.has(name) || other !== undefined;
        planned.push({ ...plan, action: isSame ? "same" : isTaken ? "taken" : "add" });
      }
    }
  }
  return planned;
}

/** What a server of that file is called here; undefined if the import does not bring it. */
function serverName(
  name: string,
  file: string,
  servers: readonly PlannedServer[],
  existing: LoadedConfig,
): string | undefined {
  const plan = servers.find(({ from }) => from.file === file && from.name === name);
  if (!plan || plan.action === "taken" || plan.action === "left") return undefined;
  if (plan.action === "add" || existing.servers.has(plan.name)) return plan.name;
  const content = contentOf(plan.config);
  return servers.find((one) => one.action === "add" && contentOf(one.config) === content)?.name;
}
