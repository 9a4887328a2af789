import { readdirSync } from "node:fs";
import { join } from "node:path";
import { unknownPackage } from "./package-place.ts";
import type { PackagePlace } from "./package-place.ts";
import type { PinnedPackage } from "./pins.ts";

const valued =
  /^(?:--from|--with|--with-editable|--python|-p|--index-url|-i|--extra-index-url|--index|--default-index)$/;
const flags = /^(?:-q|--quiet|--offline|--isolated|--no-progress|--no-cache|-n|--refresh|-U|--upgrade)$/;
const noIntegrity = "uv keeps no integrity of what it installs";

/** What `uvx` runs, as far as the command line or an installed tool says it. Its cache does not tell which one ran. */
export function uvPackage(place: PackagePlace): PinnedPackage {
  const spec = readArgs(place.args);
  if ("problem" in spec) return unknownPackage("pypi", "unknown", spec.problem);
  const [, name, version] =
    /^([A-Za-z0-9][\w.-]*)(?:\[[\w,.-]*\])?(?:(?:@|==)(\d[\w.+!-]*))?$/.exec(spec.written) ?? [];
  if (name === undefined) {
    const [, plain = "unknown"] = /^([A-Za-z0-9][\w.-]*)/.exec(spec.written) ?? [];
    return unknownPackage("pypi", plain, "its command line does not name one version");
  }
  if (version !== undefined) return unknownPackage("pypi", name, noIntegrity, version);
  const installed = installedTool(name, place);
  if (installed !== undefined) return unknownPackage("pypi", name, noIntegrity, installed);
  return unknownPackage(
    "pypi",
    name,
    "uv's cache does not tell which version ran; pin it on the command line",
  );
}

function readArgs(args: readonly string[]): { written: string } | { problem: string } {
  let from: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    const [option = "", inline] = word.startsWith("--") ? word.split(/=(.*)/s) : [word];
    if (valued.test(option)) {
      const value = inline ?? args[++at] ?? "";
      if (option === "--from") from = value;
    } else if (word === "--" || flags.test(word)) continue;
    else if (word.startsWith("-")) return { problem: `the option ${word.slice(0, 40)} is not understood` };
    else return { written: from ?? word };
  }
  return { problem: "its command line names no package" };
}

/** `uvx name` prefers a tool that was installed with `uv tool install`. */
function installedTool(name: string, { home, env }: PackagePlace): string | undefined {
  const data = env["XDG_DATA_HOME"] ?? join(home, ".local", "share");
  const root = join(env["UV_TOOL_DIR"] ?? join(data, "uv", "tools"), normalized(name), "lib");
  const versions = entriesOf(root).flatMap((python) =>
    entriesOf(join(root, python, "site-packages")).flatMap((entry) => {
      const [, found = "", version] = /^(.+?)-([^-]+)\.dist-info$/.exec(entry) ?? [];
      return version !== undefined && normalized(found) === normalized(name) ? [version] : [];
    }),
  );
  return versions.length === 1 ? versions[0] : undefined;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}
