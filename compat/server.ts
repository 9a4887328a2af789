import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { repository } from "./scene.ts";
import type { Scene } from "./scene.ts";
import type { Wish } from "./wish-script.ts";

/** What the clients talk to: the gateway, or for comparison the server behind it. */
export interface ServerUnderTest {
  /** What `plugboard` on the client's path runs. */
  plugboard: readonly string[];
  /** The call of a tool of the everything-server. */
  call(tool: string, args: Record<string, unknown>): ToolCall;
  /** What a model does before it can call. */
  find?: Wish[];
  prepare(scene: Scene): void;
  startHttp(scene: Scene, token: string): Promise<RunningServer>;
}

export interface ToolCall {
  name: string;
  args: Record<string, unknown>;
}

export interface RunningServer extends AsyncDisposable {
  url: string;
  /** What a client of this title is told: a command, or text for its file. */
  printed(title: string): string;
}

const packages = join(repository, "node_modules/@modelcontextprotocol");
const everything = join(packages, "server-everything/dist/index.js");
const filesystem = join(packages, "server-filesystem/dist/index.js");
const cli = join(repository, "dist/cli/main.js");
const node = process.execPath;

/** `plugboard serve` in front of two servers. */
export const gateway: ServerUnderTest = {
  plugboard: [node, cli],
  call: (tool, args) => ({ name: `everything__${tool}`, args }),
  prepare: (scene) => configure(scene, {}),
  startHttp: (scene, token) =>
    start([node, cli, "serve", "--port", "0"], { ...scene.env, PLUGBOARD_TOKEN: token }, scene, (output) =>
      output.includes("Gemini CLI") ? /http:\/\/127\.0\.0\.1:\d+\/mcp\b/.exec(output)?.[0] : undefined,
    ),
};

/** The gateway offers a search for tools in place of the tools. */
export const searching: ServerUnderTest = {
  ...gateway,
  call: (tool, args) => ({ name: "call_tool", args: { name: `everything__${tool}`, arguments: args } }),
  find: [{ tool: "search_tools", args: { query: "sum of two numbers" } }],
  prepare: (scene) => configure(scene, { toolSearch: true }),
};

function configure(scene: Scene, settings: { toolSearch?: boolean }) {
  scene.write(".config/plugboard/config.json", {
    ...settings,
    servers: {
      everything: { command: node, args: [everything] },
      files: { command: node, args: [filesystem, scene.project] },
    },
  });
}

/** The server without a gateway: a client that fails here fails by itself. */
export const direct: ServerUnderTest = {
  plugboard: [node, everything, "stdio"],
  call: (name, args) => ({ name, args }),
  prepare() {},
  async startHttp(scene) {
    const port = await freePort();
    const env = { ...scene.env, PORT: String(port) };
    const url = `http://127.0.0.1:${port}/mcp`;
    const running = await start([node, everything, "streamableHttp"], env, scene, (output) =>
      output.includes("listening on port") ? url : undefined,
    );
    const lines: Record<string, string> = {
      "Claude Code": `claude mcp add --transport http plugboard ${url}`,
      Codex: `[mcp_servers.plugboard]\nurl = "${url}"`,
      opencode: JSON.stringify({ mcp: { plugboard: { type: "remote", url } } }),
      "Gemini CLI": JSON.stringify({ mcpServers: { plugboard: { httpUrl: url } } }),
    };
    return { ...running, printed: (title) => lines[title] ?? "" };
  },
};

/** The lines between a client's title (and file) and the next empty line. */
function printedFor(title: string, output: string): string {
  const lines = output.split("\n");
  const start = lines.findIndex((line) => line === title || line.startsWith(`${title}  `)) + 1;
  if (start === 0) throw new Error(`nothing was printed for ${title}`);
  return lines.slice(start, lines.indexOf("", start)).join("\n");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a program and waits until its output says where it listens. */
async function start(
  [program = "", ...args]: readonly string[],
  env: Record<string, string>,
  scene: Scene,
  find: (output: string) => string | undefined,
): Promise<RunningServer> {
  const child = spawn(program, args, { cwd: scene.project, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let output = "";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const url = find(output);
      if (url) resolve(url);
    });
  }
  child.once("error", reject).once("close", (code) => reject(new Error(`ended with ${code}: ${output}`)));
  const url = await promise;
  return {
    url,
    printed: (title) => printedFor(title, output),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      scene.transcript.push(`$ plugboard serve\n${output}`);
    },
  };
}
