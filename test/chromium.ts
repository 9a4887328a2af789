import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A browser that is installed on this machine. */
export function findChromium(): string {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = process.env["CHROMIUM"] ?? places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new Error(
    "These tests need Chromium: `apt-get install chromium`, or put the path of a Chrome into CHROMIUM.",
  );
}
