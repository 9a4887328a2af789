import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scene } from "../scene.ts";

/** A program or library from npm in front of the gateway. */
export interface CompatClient {
  id: string;
  title: string;
  /** The package whose version is reported. */
  package: string;
  /** The program's usual name and what starts it; libraries have none. */
  program?: { name: string; command: readonly string[] };
  /** Asks a model; the others call the tool by themselves. */
  hasModel: boolean;
  /** What a reader of the table has to know about this client. */
  note?: string;
  use(visit: Visit): Promise<Outcome>;
}

/** How one client meets the gateway. */
export interface Visit {
  scene: Scene;
  target: StdioTarget | HttpTarget;
  modelUrl: string;
  tool: { name: string; args: Record<string, unknown> };
  prompt: string;
}

export interface StdioTarget {
  transport: "stdio";
  /** `plugboard serve --stdio` */
  command: readonly string[];
}

export interface HttpTarget {
  transport: "http";
  url: string;
  /** The variable that has the token. */
  tokenVariable: string;
  /** What `plugboard serve` prints for a client: a command, or text for its file. */
  printed(title: string): string;
}

export interface Outcome {
  /** What a person does to tell the client about the gateway. */
  configured: string;
  /** The client's own listing showed the gateway as connected, or its tools. Undefined if it has none that connects. */
  listed?: boolean | undefined;
  /** What the client printed in the end. */
  answer: string;
}

/** The name of the gateway in every client. */
export const gatewayName = "plugboard";

/** What is installed in `compat/`; the project itself has the few packages that its tests need. */
const modules = [
  join(import.meta.dirname, "..", "node_modules"),
  join(import.meta.dirname, "..", "..", "node_modules"),
];

const installed = (path: string) =>
  modules.map((folder) => join(folder, path)).find((file) => existsSync(file)) ?? path;

/** The version that is installed, or undefined. */
export function installedVersion(name: string): string | undefined {
  const path = installed(`${name}/package.json`);
  return existsSync(path)
    ? (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version
    : undefined;
}

/** A JavaScript program of an installed package. */
export const script = (path: string) => [process.execPath, installed(path)];

/** A native program that a package has for this platform: `{p}` is `linux-x64`, `darwin-arm64`, … */
export const native = (pattern: string) => [
  installed(pattern.replaceAll("{p}", `${process.platform}-${process.arch}`)),
];

/** A command as a person would type it, with the usual address. */
export function typed(words: readonly string[], target: Visit["target"]): string {
  const usual = (word: string) =>
    target.transport === "http" ? word.replace(target.url, "http://127.0.0.1:7420/mcp") : word;
  return words.map((word) => (/[\s$"{}]/.test(word) ? `'${usual(word)}'` : usual(word))).join(" ");
}
