import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import { runCli } from "../src/cli/run.ts";
import { screenText } from "../src/cli/terminal/print.ts";
import type { Terminal } from "../src/cli/terminal/terminal.ts";
import { scriptedAsk } from "./cli/scripted-ask.ts";
import type { FormAnswer } from "./cli/scripted-ask.ts";
import { platformFolders } from "../src/lib/folders.ts";
import type { Folders } from "../src/lib/folders.ts";

/** An empty home, a project folder and a managed folder of their own, gone when the test is. */
export function createSandbox(files: Record<string, string | object> = {}): Sandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }));
  return new Sandbox(root, files);
}

export interface CliRun {
  code: number;
  out: string;
  err: string;
  /** The questions that `forms` answered, and what was said between them. */
  asked: string[];
  /** Standard output as JSON. */
  json: Record<string, unknown>;
}

export interface CliOptions {
  input?: string;
  /** What a person says to questions; without them nobody is there. */
  answers?: boolean[];
  /** What a person fills into forms, in order; without them nobody is there. */
  forms?: FormAnswer[];
  /** In place of Ctrl-C: aborted with an `Interrupted`. */
  signal?: AbortSignal;
  /** A screen that can be drawn over. */
  screen?: { columns: number; rows: number };
  /** Called with all of standard output whenever there is more. */
  onOut?: (out: string) => void;
  onErr?: (err: string) => void;
  /** Standard input and output of commands that speak a protocol. */
  pipes?: { input: Readable; output: Writable };
}

export class Sandbox {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly folders: Folders;
  env: Record<string, string>;

  constructor(root: string, files: Record<string, string | object>) {
    this.root = root;
    this.home = join(root, "home");
    this.project = join(root, "home", "project");
    mkdirSync(join(this.project, ".git"), { recursive: true });
    this.env = { HOME: this.home, PATH: process.env["PATH"] ?? "" };
    this.folders = { ...platformFolders(this.env, this.project, "linux"), managed: join(root, "managed") };
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  path(name: string): string {
    return join(this.root, name.replace(/^project\//, "home/project/"));
  }

  /** Writes below the sandbox; `project/…`, `home/…` and `managed/…` are the useful places. */
  write(name: string, content: string | object): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return path;
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  get options() {
    return { cwd: this.project, env: this.env, folders: this.folders };
  }

  /** Runs a command line in this process, as a person without a terminal unless `answers` are given. */
  async cli(
    args: readonly string[],
    { input = "", answers, forms, signal, screen, onOut, onErr, pipes }: CliOptions = {},
  ): Promise<CliRun> {
    let out = "";
    let err = "";
    const asked: string[] = [];
    const caught = signal ?? new AbortController().signal;
    const shown = (text: string) => (screen ? screenText(text) : text);
    const draw = (stream: "out" | "err", text: string) => {
      if (stream === "out") out += text;
      else err += text;
      if (stream === "out") onOut?.(out);
      else onErr?.(err);
    };
    const terminal: Terminal = {
      out: (text) => draw("out", shown(text)),
      err: (text) => draw("err", shown(text)),
      draw,
      isInteractive: answers !== undefined,
      isLive: screen !== undefined,
      isErrLive: screen !== undefined,
      isScreen: screen !== undefined,
      colors: { out: false, err: false },
      columns: screen?.columns ?? 100,
      rows: screen?.rows ?? 24,
      env: this.env,
      cwd: this.project,
      readInput: async () => input,
      hasInput: async () => true,
      readLine: async () => input,
      confirm: async (question) => {
        asked.push(question);
        return answers?.shift() ?? false;
      },
      ...(forms && { ask: scriptedAsk(forms, asked) }),
      takePipes: () => {
        if (!pipes) throw new Error("This test has no pipes.");
        return pipes;
      },
      catchSignals: () => ({ signal: caught, [Symbol.dispose]: () => undefined }),
      exitCode: 0,
      folders: this.folders,
    };
    const code = await runCli(args, terminal);
    return {
      code,
      out,
      err,
      asked,
      get json() {
        return JSON.parse(out) as Record<string, unknown>;
      },
    };
  }
}
