import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Sandbox } from "../sandbox.ts";
import { fakeStdio, startFakeHttp } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { selfSigned } from "../fixtures/self-signed.ts";

export interface BrokenServer {
  config: object;
  exitCode: number;
  /** The cause that the message must name. */
  cause: RegExp;
  /** The command or setting that fixes it. */
  remedy: RegExp;
}

/** Ten servers that fail for different reasons. */
export async function brokenServers(box: Sandbox): Promise<Record<string, BrokenServer>> {
  const plain = box.write("home/plain.txt", "#!/bin/sh\n");
  const html = { status: 200, contentType: "text/html", body: "<!doctype html>\n<h1>Welcome</h1>" };
  const url = async (http: object, tls?: { key: string; cert: string }) => ({
    url: await httpUrl({ on: [{ when: {}, do: [{ http }] }] }, tls),
  });
  return {
    missing: {
      config: { command: "no-such-program" },
      exitCode: 5,
      cause: /"no-such-program" was not found in any folder of PATH: .*\/bin/,
      remedy: /Install the program, write its full path, or set PATH in `env`/,
    },
    locked: {
      config: { command: plain },
      exitCode: 5,
      cause: /plain\.txt is not executable/,
      remedy: /chmod \+x.*`command`/,
    },
    crashing: {
      config: fakeStdio({
        start: [{ raw: "loading\nno database at db.example\n", to: "stderr" }, { exit: 3 }],
      }),
      exitCode: 5,
      cause: /exited with code 3\. It printed: no database at db\.example/,
      remedy: /Run `plugboard logs crashing` to see its output/,
    },
    killed: {
      config: fakeStdio({ start: [{ exit: "SIGKILL" }] }),
      exitCode: 5,
      cause: /was killed by SIGKILL\. It printed nothing\./,
      remedy: /It was started with: \S*node/,
    },
    hanging: {
      config: {
        ...fakeStdio({ start: [{ raw: "waiting for a key\n", to: "stderr" }, { silent: true }] }),
        startupTimeoutMs: 2_500,
      },
      exitCode: 8,
      cause: /did not complete its handshake within 2\.5 s\. It printed: waiting for a key/,
      remedy: /Increase `startupTimeoutMs`/,
    },
    website: {
      config: await url(html),
      exitCode: 5,
      cause: /did not answer like an MCP server \(HTTP 200, text\/html: <!doctype html>\)/,
      remedy: /Check `url` \(http:\/\/127\.0\.0\.1:\d+\/mcp\)/,
    },
    refusing: {
      config: { url: `http://127.0.0.1:${await closedPort()}/mcp` },
      exitCode: 5,
      cause: /cannot be reached: nothing accepts connections at 127\.0\.0\.1:\d+/,
      remedy: /Start the server, or check the host and port in its `url`/,
    },
    misplaced: {
      config: await url({ status: 404, contentType: "text/plain", body: "no such page" }),
      exitCode: 5,
      cause: /HTTP 404.*no such page/,
      remedy: /Check the path in `url` .*\/mcp or \/sse/,
    },
    selfsigned: {
      config: await url({ status: 200 }, selfSigned),
      exitCode: 5,
      cause: /the certificate of 127\.0\.0\.1:\d+ is self-signed/,
      remedy: /set `network\.ca` to it/,
    },
    members: {
      config: await url({ status: 401, headers: { "WWW-Authenticate": "Bearer" } }),
      exitCode: 6,
      cause: /HTTP 401/,
      remedy: /`plugboard login members`/,
    },
  };
}

async function httpUrl(script: Script, tls?: { key: string; cert: string }): Promise<string> {
  const fake = await startFakeHttp(script, tls ? { tls } : {});
  onTestFinished(() => fake.close());
  return fake.url;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
