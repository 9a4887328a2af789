import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoadedConfig, Source } from "../config/model.ts";
import { readFileSource } from "../config/sources.ts";

const replacedWithinMs = 600;

/** A configuration file, which may not exist. */
export interface SourceFile extends Source {
  file: string;
}

/** All configuration files that were looked for, whether they exist or not. */
export function filesOf({ sources }: LoadedConfig): SourceFile[] {
  return sources.flatMap(({ file, ...source }) => {
    if (file === undefined || source.scope === "inline" || source.scope === "override") return [];
    const isFolder = source.scope === "plugin" && source.state === "missing";
    return [{ ...source, file: isFolder ? join(file, ".mcp.json") : file }];
  });
}

/** The project's scripts that are part of what was trusted. */
export function scriptsOf({ servers, projectRoot }: LoadedConfig): string[] {
  const paths = [...servers.values()].flatMap(({ trustedScripts = {} }) => Object.keys(trustedScripts));
  return [...new Set(paths)].map((path) => resolve(projectRoot, path));
}

/** The lock files of all servers, and whether they pin anything now. */
export function locksOf({ lockFiles, pins }: LoadedConfig): { file: string; isUsed: boolean }[] {
  const used = new Set([...(pins?.values() ?? [])].map(({ file }) => file));
  return [...new Set(lockFiles?.values())].map((file) => ({ file, isUsed: used.has(file) }));
}

/** Existing files that cannot be parsed, each with the reason. */
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

/** A missing or empty file is probably being replaced: waits until all files have content, but not for long. */
export async function waitForReplacements(files: readonly string[], isOver: () => boolean): Promise<void> {
  const deadline = Date.now() + replacedWithinMs;
  const isThere = async (file: string) => ((await stat(file).catch(() => undefined))?.size ?? 0) > 0;
  while (Date.now() < deadline && !isOver()) {
    if ((await Promise.all(files.map(isThere))).every(Boolean)) return;
    await sleep(50);
  }
}

/** A fingerprint that changes whenever one of the files does. */
export async function stamps(files: readonly string[]): Promise<string> {
  const all = files.map(async (file) => {
    const found = await stat(file, { bigint: true }).catch(() => undefined);
    return found ? `${found.ino}:${found.size}:${found.mtimeNs}` : "";
  });
  return (await Promise.all(all)).join(" ");
}
