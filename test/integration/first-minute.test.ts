import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueCertificate } from "../fixtures/registry/authority.ts";
import { startProxy, type TunnelProxy } from "../fixtures/registry/proxy.ts";
import { startRegistry, type PackageRegistry } from "../fixtures/registry/registry.ts";
import { runShell, type CommandRun } from "../run-command.ts";
import { lacks } from "../machine.ts";
import { unpackPackage } from "../packed-package.ts";
import { commandLine } from "../command-line.ts";

const host = "registry.example";
const login = "ada:correct-horse-battery";

/** The commands of Plugboard that a new user copies, up to the first call. */
function firstMinute(): string[] {
  const readme = readFileSync("README.md", "utf8");
  const commands = [...readme.matchAll(/^\$ (npx plugboard .*)$/gm)].map(([, command = ""]) => command);
  return commands.slice(0, commands.findIndex((command) => / call /.test(command)) + 1);
}

describe.skipIf(lacks("openssl"))(
  "M20 the first minute, on a machine where the network has a proxy and a private authority",
  () => {
    let root: string;
    let caFile: string;
    let registry: PackageRegistry;
    let proxy: TunnelProxy;

    beforeAll(async () => {
      root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-first-minute-")));
      const certificate = issueCertificate(root, host);
      ({ caFile } = certificate);
      registry = await startRegistry(
        [resolve("node_modules"), unpackPackage(join(root, "published"))],
        host,
        certificate,
      );
      proxy = await startProxy({ [`${host}:443`]: registry.port }, login);
    });

    afterAll(async () => {
      await proxy[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true, maxRetries: 20 });
    });

    /** A shell in an empty home, with nothing but what a login shell has. */
    function newcomer(network: Record<string, string>) {
      const home = mkdtempSync(join(root, "home-"));
      const cwd = join(home, "work");
      mkdirSync(cwd);
      const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
      return (command: string): Promise<CommandRun> =>
        runShell(command, {
          cwd,
          env: { HOME: home, PATH: path, npm_config_registry: `https://${host}/`, ...network },
        });
    }

    it("the README's commands download Plugboard and a server, and the call answers", async () => {
      const run = newcomer({ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: caFile });
      const commands = firstMinute();
      expect(commands.length).toBeGreaterThan(1);
      let last = "";
      for (const command of commands) {
        const { code, out, err } = await run(command);
        expect({ command, code, err: code === 0 ? "" : err }).toEqual({ command, code: 0, err: "" });
        expect(out + err).not.toContain("correct-horse");
        last = out;
      }
      expect(last).toBe("Echo: hello\n");
      expect([...registry.downloaded]).toEqual(
        expect.arrayContaining(["plugboard", "@modelcontextprotocol/server-everything"]),
      );
      expect(new Set(proxy.seen)).toEqual(new Set([`${host}:443`]));
    });

    /** Adds a server that is not in npm's cache, and calls it. */
    async function firstCall(network: Record<string, string>) {
      const run = newcomer(network);
      await run(`node ${commandLine} add demo -- npx -y @modelcontextprotocol/server-everything`);
      const started = performance.now();
      const { code, out, err } = await run(`node ${commandLine} call demo.echo message=hello`);
      return { code, out, err, seconds: (performance.now() - started) / 1000 };
    }

    it("without the authority's certificate, the error names the variable to set, within ten seconds", async () => {
      const { code, err, seconds } = await firstCall({ HTTPS_PROXY: proxy.url });
      expect(err).toContain(`"demo" could not be installed: npx does not trust the certificate of ${host}`);
      expect(err).toContain("set NODE_EXTRA_CA_CERTS to the file with its certificate");
      expect(code).toBe(5);
      expect(seconds).toBeLessThan(10);
    });

    it.each([
      [
        "a proxy that is down",
        { HTTPS_PROXY: `http://${login}@127.0.0.1:1` },
        host,
        "the proxy that HTTPS_PROXY names (http://(hidden)@127.0.0.1:1)",
      ],
      [
        "no network",
        { npm_config_registry: "https://127.0.0.1:1/" },
        "127.0.0.1:1",
        "If it has a proxy, set HTTPS_PROXY",
      ],
    ])("with %s, the error says so within ten seconds", async (_, network, unreachable, advice) => {
      const { code, err, seconds } = await firstCall(network);
      expect(err).toContain(`"demo" could not be installed: npx cannot reach ${unreachable}`);
      expect(err).toContain("ECONNREFUSED");
      expect(err).toContain(advice);
      expect(err).not.toContain("correct-horse");
      expect(code).toBe(5);
      expect(seconds).toBeLessThan(10);
    });
  },
);
