import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { redirectOf } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import type { AuthServer } from "../fixtures/auth/index.ts";
import type { Canaries } from "./canary-scene.ts";
import { commandLine } from "../command-line.ts";

const preload = join(import.meta.dirname, "programs", "canary-preload.cjs");

export interface Run {
  code: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  input?: string;
  env?: Record<string, string>;
  nodeOptions?: string[];
  /** Hears all of standard error whenever there is more. */
  onErr?: (err: string, child: ChildProcess) => void | Promise<void>;
}

/** The command line as processes of its own, each word of which is seen. */
export class CanaryCli {
  readonly box: Sandbox;
  readonly #canaries: Canaries;
  readonly #started: string;
  /** Somebody wrote a literal secret into it. */
  readonly #config: string;

  constructor(canaries: Canaries, servers: Record<string, object>) {
    this.#canaries = canaries;
    this.box = createSandbox();
    this.#config = this.box.write("home/.config/plugboard/config.json", { mcpServers: servers });
    this.#started = this.box.path("home/started");
    this.box.env["TMPDIR"] = this.box.path("home/tmp");
    mkdirSync(this.box.env["TMPDIR"]);
  }

  /** A browser for the PATH, which follows the address that it is given. */
  installBrowser(): void {
    const script = `#!${process.execPath}\nfetch(process.argv[2]).then((response) => response.text());\n`;
    chmodSync(this.box.write("home/bin/xdg-open", script), 0o755);
    this.box.env["PATH"] = this.box.path("home/bin");
  }

  async run(args: string[], { input, env, nodeOptions = [], onErr }: RunOptions = {}): Promise<Run> {
    const child = spawn(process.execPath, [commandLine, ...args], {
      cwd: this.box.project,
      env: {
        ...this.box.env,
        ...env,
        CANARY_STARTED: this.#started,
        NODE_OPTIONS: [`--require=${preload}`, ...nodeOptions].join(" "),
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
      void onErr?.(err, child);
    });
    if (input !== undefined || !onErr) child.stdin.end(input ?? "");
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("close", resolve).once("error", reject);
    });
    const where = `plugboard ${args.join(" ")}`;
    this.#canaries.see(`${where}, its arguments`, where);
    this.#canaries.see(`${where}, standard output`, out);
    this.#canaries.see(`${where}, standard error`, err);
    return { code, out, err };
  }

  /** For people and for programs. */
  async both(args: string[], options: RunOptions = {}): Promise<[Run, Run]> {
    return Promise.all([this.run(args, options), this.run([...args, "--json"], options)]);
  }

  /** Everything that was written below the home folder, and what was started. */
  seeTraces(): void {
    this.#canaries.seeFiles(this.box.root, [this.#config]);
  }

  get started(): string[] {
    return existsSync(this.#started) ? readFileSync(this.#started, "utf8").trim().split("\n") : [];
  }
}

/** Pastes back where the browser would have ended. */
export function pasting(): RunOptions {
  let isDone = false;
  return {
    onErr: async (err, child) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/authorize\S+/.exec(err) ?? [];
      if (address === undefined || isDone) return;
      isDone = true;
      child.stdin?.end(await redirectOf(new URL(address)));
    },
  };
}

/** Somebody types in the code. */
export function approving(auth: Pick<AuthServer, "approveDevice">): RunOptions {
  let isDone = false;
  return {
    onErr: (err) => {
      const [, code] = /the code (\S+)\n/.exec(err) ?? [];
      if (code === undefined || isDone) return;
      isDone = true;
      auth.approveDevice(code);
    },
  };
}

/** A server for every way to configure a credential. */
export function configured(canaries: Canaries, { plain, login }: { plain: string; login: string }) {
  const box = createSandbox();
  const file = (name: string, content: string) => box.write(`home/given/${name}`, content);
  const node = process.execPath;
  const helper = file("helper.json", JSON.stringify({ "X-Session": canaries.plant("a helper's output") }));
  const printed = file("printed", canaries.plant("a command's output"));
  const cookie = file("cookie", canaries.plant("a file's content"));
  const read = (path: string) => [node, "-p", `fs.readFileSync('${path}', 'utf8')`];
  const servers = {
    issues: { url: login },
    keyed: { url: `${login}?key=\${secret:URL_KEY}` },
    bearer: { url: plain, bearerTokenEnv: "BEARER_TOKEN" },
    variable: { url: plain, headersFromEnv: { "X-Api-Key": "API_KEY" } },
    secret: { url: plain, headers: { Authorization: "Bearer ${secret:HEADER_TOKEN}" } },
    literal: { url: plain, headers: { "X-Api-Key": canaries.plant("a literal header") } },
    cookie: { url: plain, headers: { Cookie: `session=\${file:${cookie}}` } },
    helper: { url: plain, headersHelper: read(helper) },
    printed: { url: plain, headers: { "X-Api-Key": `\${cmd:${node} ${read(printed).slice(1).join(" ")}}` } },
    proxied: {
      url: "http://192.0.2.1/mcp",
      network: { proxy: "http://ada:${PROXY_PASSWORD}@127.0.0.1:9" },
      headers: { "X-Api-Key": "${API_KEY}" },
    },
    program: {
      command: node,
      args: ["-e", "console.error(process.env.API_TOKEN); process.exit(3)"],
      env: { API_TOKEN: "${secret:PROGRAM_TOKEN}" },
    },
  };
  const env = {
    BEARER_TOKEN: canaries.plant("a bearer token"),
    API_KEY: canaries.plant("a variable"),
    PROXY_PASSWORD: canaries.plant("a proxy's password"),
  };
  const secrets = {
    HEADER_TOKEN: canaries.plant("a kept secret"),
    URL_KEY: canaries.plant("a key in an address"),
    PROGRAM_TOKEN: canaries.plant("a program's variable"),
  };
  return { servers, env, secrets };
}
