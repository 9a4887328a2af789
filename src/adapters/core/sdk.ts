import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PlugboardError } from "../../index.ts";

/** The SDK that an adapter is made for. */
export interface Sdk {
  name: string;
  /** The versions that fit. */
  supported: RegExp;
  /** What to install, such as `ai@7`. */
  install: string;
}

/** Loads the SDK. Throws `sdk-unsupported` if it is not installed, or is another major version. */
export async function loadSdk<T>(sdk: Sdk, load: () => Promise<T>): Promise<T> {
  assertSupported(sdk);
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new PlugboardError("sdk-unsupported", `${sdk.name} is not installed.`, {
      hint: `Run \`npm install ${sdk.install}\`.`,
      cause: error,
    });
  }
}

/** Throws if another major version of the SDK is installed. What cannot be found out is not held against it. */
export function assertSupported({ name, supported, install }: Sdk): void {
  const version = installedVersion(name);
  if (version === undefined || supported.test(version)) return;
  throw new PlugboardError(
    "sdk-unsupported",
    `${name} ${version} is installed, and this adapter needs ${install}.`,
    {
      hint: `Run \`npm install ${install}\`.`,
    },
  );
}

/** Read from the file, because many packages do not export it. */
function installedVersion(name: string): string | undefined {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8")) as unknown;
      return String((manifest as { version?: unknown }).version);
    } catch {
      continue;
    }
  }
  return undefined;
}
