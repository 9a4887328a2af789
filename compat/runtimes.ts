import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createHub } from "../src/index.ts";
import { startFakeHttp, type FakeHttp, type Script } from "../test/fixtures/fake/index.ts";
import { issueCertificate } from "../test/fixtures/registry/authority.ts";
import { startProxy } from "../test/fixtures/registry/proxy.ts";
import { runProgram } from "../test/run-command.ts";
import { installPackage } from "../test/unpacked-package.ts";

/**
 * Tries the package, as it would be published, under other runtimes than the one it is developed with:
 * `node compat/runtimes.ts path/to/bun "path/to/deno run -A"`. Run `npm run build` before.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const everything = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const program = (source: string) => `import { createHub } from "plugboard";
const hub = await createHub({ servers: { demo: ${source} } });
console.log(JSON.stringify((await hub.callTool("demo.echo", { message: "hello" })).content));
await hub.close();
`;

type Run = (args: string[], input?: string) => Promise<string>;

interface Visit {
  folder: string;
  words: [string, ...string[]];
  env: Record<string, string>;
  run: Run;
}

const main = join("node_modules", "plugboard", "dist", "cli", "main.js");

const steps: Record<string, (visit: Visit) => Promise<void>> = {
  "library, stdio": ({ folder, run }) =>
    runSource(folder, run, JSON.stringify({ command: process.execPath, args: [everything] })),
  "library, HTTP": ({ folder, run }) =>
    withFake({ versions: "modern" }, ({ url }) => runSource(folder, run, JSON.stringify({ url }))),
  "library, SSE": ({ folder, run }) =>
    withFake({}, ({ sseUrl: url }) => runSource(folder, run, JSON.stringify({ url, type: "sse" }))),
  "library, TLS of a private authority through a proxy": async ({ folder, run }) => {
    const { caFile, ...tls } = issueCertificate(folder, "mcp.example");
    const fake = await startFakeHttp({ versions: "modern" }, { tls });
    const proxy = await startProxy({ "mcp.example:443": Number(new URL(fake.url).port) }, "ada:sesame");
    const source = (network: object) => JSON.stringify({ url: "https://mcp.example/mcp", network });
    try {
      await runSource(folder, run, source({ ca: caFile, proxy: proxy.url }));
      const unknown = runSource(folder, run, source({ proxy: proxy.url }));
      expectIn(await unknown.then(() => "an unknown authority was trusted", String), "unknown authority (");
    } finally {
      await proxy[Symbol.asyncDispose]();
      await fake.close();
    }
  },
  "command line": async ({ folder, run }) => {
    await run([main, "add", "demo", "--", process.execPath, everything, "stdio", folder]);
    expectIn(await run([main, "call", "demo.echo", "message=hello"]), "Echo: hello");
    expectIn(await run([main, "search", "echo"]), "mcp__demo__echo");
  },
  "command line, HTTP": ({ run }) =>
    withFake({ versions: "modern" }, async ({ url }) => {
      await run([main, "add", "remote", url]);
      expectIn(await run([main, "call", "remote.echo", "message=hello"]), "hello");
      await run([main, "remove", "remote"]);
    }),
  secrets: async ({ run }) => {
    await run([main, "secret", "set", "WORD", "-"], "sesame");
    expectIn(await run([main, "secret", "list"]), "WORD");
  },
  "gateway, and no process left after SIGKILL": serveAndKill,
};

async function withFake(script: Script, use: (fake: FakeHttp) => Promise<void>): Promise<void> {
  const fake = await startFakeHttp(script);
  try {
    await use(fake);
  } finally {
    await fake.close();
  }
}

async function runSource(folder: string, run: Run, source: string): Promise<void> {
  writeFileSync(join(folder, "program.mjs"), program(source));
  expectIn(await run(["program.mjs"]), "hello");
}

async function serveAndKill({ folder, words: [command, ...flags], env }: Visit): Promise<void> {
  const args = [...flags, main, "serve", "--port", "0", "--json"];
  const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  try {
    const [line] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
    const { url, tokenFile } = JSON.parse(line.toString()) as { url: string; tokenFile: string };
    const headers = { Authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
    const hub = await createHub({ servers: { gateway: { url, headers } } });
    const [tool] = (await hub.tools()).filter(({ name }) => name.endsWith("echo"));
    const { content } = await hub.callTool(tool?.id ?? "", { message: "hello" });
    expectIn(JSON.stringify(content), "Echo: hello");
    await hub.close();
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
  const deadline = Date.now() + 15_000;
  const isLeft = async () =>
    (await runProgram("ps", ["-eo", "args"])).out.includes(`${everything} stdio ${folder}`);
  while (await isLeft()) if (Date.now() > deadline) throw new Error("the server outlived the runtime");
}

function expectIn(text: string, wanted: string): void {
  if (!text.includes(wanted)) throw new Error(`expected "${wanted}" in: ${text.slice(0, 500)}`);
}

for (const line of positionals) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-runtime-")));
  installPackage(folder);
  const words = line.split(" ") as [string, ...string[]];
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
  const run: Run = async (args, input = "") => {
    const [command, ...flags] = words;
    const { code, out, err } = await runProgram(command, [...flags, ...args], { cwd: folder, env, input });
    if (code !== 0) throw new Error(`exit code ${code}: ${err.slice(0, 2000)}`);
    return out;
  };
  for (const [name, step] of Object.entries(steps)) {
    const problem = await step({ folder, words, env, run }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (problem !== undefined) process.exitCode = 1;
    console.log(
      `${problem === undefined ? "ok  " : "FAIL"}  ${words[0]}  ${name}${problem ? `: ${problem}` : ""}`,
    );
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
