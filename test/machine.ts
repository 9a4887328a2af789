import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

/** What some tests use beside Node.js. Without it they are skipped, and the end of `npm test` says so. */
interface Program {
  /** What is not tested without it. */
  tests: string;
  /** Debian's packages that bring it. */
  packages: string[];
  isThere: () => boolean;
}

export type ProgramName = keyof typeof programs;

const readOnlyRoot = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"];

export const programs = {
  chromium: {
    tests: "logging in and apps in a browser",
    packages: ["chromium"],
    isThere: () => chromiumPath() !== undefined,
  },
  bubblewrap: {
    tests: "the sandbox and homes that cannot be written",
    packages: ["bubblewrap"],
    // Installed is not enough: the kernel may forbid the namespaces that it needs.
    isThere: () => succeeds("bwrap", ...readOnlyRoot),
  },
  keychain: {
    tests: "secrets in the system's keychain",
    packages: ["dbus", "gnome-keyring"],
    isThere: () =>
      hasKeychainLibrary() && isOnPath("gnome-keyring-daemon") && succeeds("dbus-run-session", "--", "true"),
  },
  tmux: {
    tests: "what a terminal shows",
    packages: ["tmux"],
    isThere: () => succeeds("tmux", "-V"),
  },
  script: {
    tests: "text of others on a terminal and completion in shells",
    packages: ["bsdutils"],
    isThere: () => succeeds("script", "--version"),
  },
  bash: { tests: "completion in bash", packages: ["bash"], isThere: () => isOnPath("bash") },
  zsh: { tests: "completion in zsh", packages: ["zsh"], isThere: () => isOnPath("zsh") },
  fish: { tests: "completion in fish", packages: ["fish"], isThere: () => isOnPath("fish") },
  openssl: {
    tests: "TLS, and networks with a certificate authority of their own",
    packages: ["openssl"],
    isThere: () => succeeds("openssl", "version"),
  },
  python: {
    tests: "crashes of Python programs, and the programs of docs/other-languages.md",
    packages: ["python3"],
    isThere: () => succeeds("python3", "--version"),
  },
  curl: {
    tests: "the gateway from a shell",
    packages: ["curl"],
    isThere: () => succeeds("curl", "--version"),
  },
} satisfies Record<string, Program>;

const known = new Map<ProgramName, boolean>();

/** True if one of these programs is missing: `describe.skipIf(lacks("tmux"))`. */
export function lacks(...names: ProgramName[]): boolean {
  return names.some((name) => !has(name));
}

export function has(name: ProgramName): boolean {
  const answer = known.get(name) ?? programs[name].isThere();
  known.set(name, answer);
  return answer;
}

/** The path of a Chromium or Chrome, if there is one. */
export function chromiumPath(): string | undefined {
  const own = process.env["CHROMIUM"];
  if (own !== undefined && own !== "") return existsSync(own) ? own : undefined;
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return names.flatMap(placesOf).find((place) => existsSync(place));
}

/** The command that brings what is missing to a Debian; empty if nothing is. */
export function howToGet(names: readonly ProgramName[]): string {
  const packages = new Set(names.flatMap((name) => programs[name].packages));
  return packages.size > 0 ? `apt-get install -y --no-install-recommends ${[...packages].join(" ")}` : "";
}

export function hasKeychainLibrary(): boolean {
  try {
    createRequire(import.meta.url)("@napi-rs/keyring");
    return true;
  } catch {
    return false;
  }
}

function isOnPath(name: string): boolean {
  return placesOf(name).some((place) => existsSync(place));
}

function placesOf(name: string): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => folder !== "").map((folder) => join(folder, name));
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore", timeout: 10_000 }).status === 0;
}
