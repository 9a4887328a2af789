import { chmodSync, existsSync, readFileSync } from "node:fs";
import type { Sandbox } from "../sandbox.ts";

/** A browser first on PATH that follows the address it is given, or does nothing. Returns what it has opened. */
export function installBrowser(box: Sandbox): () => string[] {
  const log = box.path("home/opened");
  const script = `#!${process.execPath}
require("node:fs").appendFileSync(${JSON.stringify(log)}, process.argv[2] + "\\n");
if (!process.env["IDLE_BROWSER"]) fetch(process.argv[2]).then((response) => response.text());
`;
  chmodSync(box.write("home/bin/xdg-open", script), 0o755);
  box.env["PATH"] = `${box.path("home/bin")}:${box.env["PATH"] ?? ""}`;
  return () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
}
