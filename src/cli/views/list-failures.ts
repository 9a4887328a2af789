import type { Hub } from "../../index.ts";
import { problemOf } from "./connection-findings.ts";
import type { Finding } from "./finding.ts";
import { transportOf } from "./server-view.ts";

/** Why a server gave no list: what is wrong with the server itself, if something is. */
export function listFailure(hub: Hub, name: string): Finding {
  const report = hub.status().find((one) => one.name === name);
  const entry = hub.config.servers.get(name);
  const row = report && entry && { ...report, via: transportOf(entry) };
  const problem = row && problemOf(row, entry);
  return problem ?? { level: "problem", about: name, message: "it did not give its list" };
}
