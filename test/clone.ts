import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { commandLine } from "./command-line.ts";
import { unpackPackage } from "./packed-package.ts";

interface CloneOptions {
  /** The published package is installed in the folder, in place of a clone. */
  isPackage?: boolean;
  environment?: Record<string, string>;
}

/** A temporary home in place of /home/ada, with a folder in it where `npx plugboard` works. */
export function createClone({ isPackage = false, environment = {} }: CloneOptions = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-clone-")));
  const folder = join(home, "plugboard");
  mkdirSync(folder);
  const modules = join(folder, "node_modules");
  installModules(modules);
  if (isPackage) unpackPackage(folder);
  else cpSync(".npmrc", join(folder, ".npmrc"));
  const main = isPackage ? join(modules, "plugboard", "dist/cli/main.js") : commandLine;
  const path = [dirname(process.execPath), resolve("node_modules", ".bin"), process.env["PATH"]];
  const env = { HOME: home, PATH: path.join(delimiter), ...environment };
  return {
    folder,
    /** What a line prints, as README writes it. */
    run: (line: string): string => {
      const own = line.replaceAll(/\bnpx plugboard\b/g, `node ${main}`);
      const script = /^npx plugboard serve\b/.test(line) ? untilConnectable(own) : own;
      const options = { cwd: folder, env, encoding: "utf8" as const };
      const { stdout } = spawnSync("sh", ["-c", `{ ${script}\n} 2>&1`], options);
      return stdout.replaceAll(home, "/home/ada").replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:7420");
    },
    remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 20 }),
  };
}

/** Runs `serve` on any free port until it has said everything. */
function untilConnectable(serve: string): string {
  return `${whileServing("", `${serve} --quiet`)}\ncat ../served`;
}

/** Runs lines of a shell beside a gateway, whose URL and token they find in variables. It writes to `../served`. */
export function whileServing(lines: string, serve = "npx plugboard serve"): string {
  return [
    // The file has to be there before it is looked into.
    `: > ../served; ${serve} --port 0 >> ../served 2>&1 & pid=$!`,
    untilTrue("grep -q Gemini ../served"),
    'export PLUGBOARD_URL="$(grep -ao "http://127.0.0.1:[0-9]*/mcp" ../served | head -1)"',
    'export PLUGBOARD_TOKEN="$(cat ~/.local/state/plugboard/gateway/token)"',
    lines,
    "kill $pid; wait $pid",
  ].join("\n");
}

/** Waits for at most a minute. */
export const untilTrue = (condition: string) =>
  `for turn in $(seq 600); do ${condition} && break; sleep 0.1; done`;

/** Links to what is installed here. The server whose files are shown is a copy, because a clone has no links there. */
function installModules(folder: string): void {
  const copied = "@modelcontextprotocol/server-memory";
  const scope = dirname(copied);
  mkdirSync(join(folder, scope), { recursive: true });
  const names = [
    ...readdirSync("node_modules"),
    ...readdirSync(join("node_modules", scope)).map((name) => join(scope, name)),
  ];
  for (const name of names.filter((one) => ![scope, copied, "plugboard"].includes(one)))
    symlinkSync(resolve("node_modules", name), join(folder, name));
  cpSync(realpathSync(join("node_modules", copied)), join(folder, copied), { recursive: true });
}

/** Replaces what differs between folders and runs. */
export function blur(text: string): string {
  return (
    text
      .replaceAll(/projects\/[^\s:]+\.json/g, "projects/….json")
      // Said where the port is not the usual one.
      .replaceAll("--http http://127.0.0.1:7420/mcp", "--http")
      .replaceAll(/\b\d+(\.\d+)? ?(ms|s)\b/g, "… ms")
      .replaceAll(/(?<=\S) +/g, " ")
      .trimEnd()
  );
}
