import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoadedConfig, Source } from "../config/model.ts";
import { readFileSource } from "../config/sources.ts";

const replacedWithinMs = 600;

/** A place in a file system that configuration comes from, or would. */
export interface SourceFile extends Source {
  file: string;
}

/** Every file that was looked at, whether it exists or not. */
export function filesOf({ sources }: LoadedConfig): SourceFile[] {
  return sources.flatMap(({ file, ...source }) => {
    if (file === undefined || source.scope === "inline" || source.scope === "override") return [];
    const isFolder = source.scope === "plugin" && source.state === "missing";
    return [{ ...source, file: isFolder ? join(file, ".mcp.json") : file }];
  });
}

/** Files that are there and cannot be understood, each with the reason. */
export async function brokenFiles(config: LoadedConfig): Promise<Map<string, string>> {
  const there = filesOf(config).filter(({ state }) => state !== "missing");
  const read = await Promise.all(
    there.map(async ({ scope, file }) => ({ file, ...(await readFileSource(scope, file, false)) })),
  );
  return new Map(
    read
      .filter(({ parsed, state }) => state !== "missing" && !parsed.readable)
      .map(({ file, parsed }) => {
        const { line, message = "it cannot be read" } = parsed.diagnostics[0] ?? {};
        return [file, `${file}${line === undefined ? "" : `:${line}`}: ${message}`];
      }),
  );
}

/** A file that has gone or is empty is probably being replaced: waits until all are there, or believes it. */
export async function waitForReplacements(files: readonly string[], isOver: () => boolean): Promise<void> {
  const deadline = Date.now() + replacedWithinMs;
  const isThere = async (file: string) => ((await stat(file).catch(() => undefined))?.size ?? 0) > 0;
  while (Date.now() < deadline && !isOver()) {
    if ((await Promise.all(files.map(isThere))).every(Boolean)) return;
    await sleep(50);
  }
}

/** Differs whenever one of the files does. */
export async function stamps(files: readonly SourceFile[]): Promise<string> {
  const all = files.map(async ({ file }) => {
    const found = await stat(file, { bigint: true }).catch(() => undefined);
    return found ? `${found.ino}:${found.size}:${found.mtimeNs}` : "";
  });
  return (await Promise.all(all)).join(" ");
}
