import { readFile } from "node:fs/promises";
import { PlugboardError } from "../errors.ts";
import type { ServerConfig } from "../config/server-schema.ts";
import type { HttpNetwork } from "./transports/http/pool.ts";

/** Reads the files named in a server's `network` settings. */
export async function readNetwork(
  server: string,
  { proxy, ca, cert, key }: NonNullable<ServerConfig["network"]>,
): Promise<HttpNetwork> {
  return {
    ...(proxy !== undefined && { proxy }),
    ...(ca !== undefined && { ca: await readPem(server, ca) }),
    ...(cert !== undefined && { cert: await readPem(server, cert) }),
    ...(key !== undefined && { key: await readPem(server, key) }),
  };
}

async function readPem(server: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new PlugboardError(
      "config-invalid",
      `The certificate file ${path} of "${server}" cannot be read.`,
      { server, cause: error },
    );
  }
}
