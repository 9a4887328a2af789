import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Observation } from "./wire/observed.ts";
import type { Observed } from "./wire/observed.ts";

const here = import.meta.dirname;
export const repository = resolve(here, "..");

export interface Run {
  code: number | null;
  out: string;
  err: string;
  timedOut: boolean;
}

/** One client's world: an empty home, a project, and a `plugboard` on the path whose messages are noted. */
export class Scene implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-compat-")));
  readonly home = join(this.root, "home");
  readonly project = join(this.home, "project");
  readonly env: Record<string, string>;
  /** Every command that was run and what it printed, for a person who asks why. */
  readonly transcript: string[] = [];
  readonly #wire = join(this.root, "wire.log");

  constructor(plugboard: readonly string[]) {
    mkdirSync(join(this.root, "bin"));
    mkdirSync(join(this.project, ".git"), { recursive: true });
    this.install("plugboard", [
      process.execPath,
      join(here, "wire", "stdio-tee.ts"),
      this.#wire,
      ...plugboard,
    ]);
    const path = [join(this.root, "bin"), dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"];
    // Nothing else of the environment: no keys, no proxies, no settings of the person who runs this.
    this.env = {
      HOME: this.home,
      PATH: path.join(delimiter),
      TERM: "dumb",
      NO_COLOR: "1",
      LANG: "C.UTF-8",
      TMPDIR: this.root,
    };
  }

  /** Puts a program on the path under its usual name. */
  install(name: string, command: readonly string[]) {
    const file = join(this.root, "bin", name);
    writeFileSync(file, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`);
    chmodSync(file, 0o755);
  }

  read(name: string): string {
    const path = join(this.home, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  write(name: string, content: string | object) {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }

  /** Runs a program in the project and waits for its end, or ends it with its children after two minutes. */
  async run(
    command: readonly string[],
    env: Record<string, string> = {},
    deadlineMs = 120_000,
  ): Promise<Run> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, {
      cwd: this.project,
      env: { ...this.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let out = "";
    let err = "";
    let timedOut = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (err += text));
    const deadline = setTimeout(() => {
      timedOut = true;
      if (child.pid) process.kill(-child.pid, "SIGKILL");
    }, deadlineMs);
    const { promise, resolve: settle, reject } = Promise.withResolvers<number | null>();
    child.once("close", settle).once("error", reject);
    const code = await promise.finally(() => clearTimeout(deadline));
    this.transcript.push(`$ ${command.join(" ")}\n${out}${err}[${timedOut ? "timed out" : code}]`);
    return { code, out, err, timedOut };
  }

  /** Waits until every gateway that a client started has ended, as it must without its client. False after ten seconds. */
  async ended(): Promise<boolean> {
    const pids = this.#noted().flatMap((line) => (line.startsWith("! ") ? [Number(line.slice(2))] : []));
    for (let round = 0; round < 100 && pids.some(isAlive); round++) await pause(100);
    return !pids.some(isAlive);
  }

  /** What was seen on the pipes. */
  observed(): Observed {
    const observation = new Observation();
    for (const line of this.#noted()) {
      if (line.startsWith("> ")) observation.fromClient(line.slice(2));
      else if (line.startsWith("< ")) observation.fromGateway(line.slice(2));
    }
    return observation.seen;
  }

  #noted(): string[] {
    return existsSync(this.#wire) ? readFileSync(this.#wire, "utf8").split("\n") : [];
  }

  [Symbol.dispose]() {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
