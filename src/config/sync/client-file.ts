import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { PlugboardError } from "../../errors.ts";
import { isInside } from "../../lib/folders.ts";
import type { Format, FormatFile, Machine } from "../formats/format.ts";

/** The file of a client that is written: its main one if it exists or none does, else the one that exists. */
export function clientFile(
  format: Format,
  scope: "user" | "project",
  machine: Machine,
): FormatFile | undefined {
  const files = format.files(machine).filter((file) => file.scope === scope && !file.extensions);
  const main = files.find((file) => file.main) ?? files.at(-1);
  const existing = main && existsSync(main.path) ? main : files.findLast(({ path }) => existsSync(path));
  return existing ?? main;
}

/** A project could make its file a link, or put it into a linked folder, to have another file of the user written. */
export function assertInProject(path: string, projectRoot: string): void {
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  if (isInside(realpathSync(projectRoot), realpathSync(existing))) return;
  throw new PlugboardError(
    "config-unreadable",
    `${path} leads outside the project through a symbolic link, so Plugboard does not write to it.`,
    { data: { file: path } },
  );
}
