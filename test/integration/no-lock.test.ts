import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { Workspace } from "../../src/config.ts";
import { createHub } from "../../src/index.ts";
import { browser } from "../auth/oauth-fixture.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

/** What one process compiled, the others need not. */
const compiled = mkdtempSync(join(tmpdir(), "plugboard-compiled-"));
afterAll(() => rmSync(compiled, { recursive: true, force: true, maxRetries: 20 }));

const writers = Array.from({ length: 8 }, (_, index) => `W${index}`);

/** The words before the program, for processes that cannot use the state file although they can write next to it. */
const broken: Record<string, { prefix: string[]; prepare?: (box: Sandbox) => void }> = {
  "read-only": {
    // A mode binds root too once it has no capabilities.
    prefix: [
      ...(process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []),
      process.execPath,
    ],
    prepare: (box) => chmodSync(join(box.folders.state, "state.sqlite"), 0o400),
  },
  full: {
    // A limit on file sizes looks like a full disk to SQLite, but the smaller files of vault and configuration still fit.
    prefix: ["/bin/sh", "-c", 'trap "" XFSZ; ulimit -f 16; exec "$@"', "sh", process.execPath],
  },
  missing: { prefix: [process.execPath, "--no-experimental-sqlite"] },
};

describe.runIf(process.platform === "linux").each(Object.keys(broken))(
  "eight writers with a lock store that is %s",
  (kind) => {
    const { prefix, prepare } = broken[kind] ?? { prefix: [] };

    test("M72 M05 lose nothing that they said was saved or added, and the others say why", async () => {
      const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: {} } });
      await run(box, [process.execPath], ["secret", "set", "FIRST", "--from-env", "VALUE"]);
      await run(box, [process.execPath], ["list"]);
      prepare?.(box);
      const runs = await Promise.all([
        ...writers.map((name) => run(box, prefix, ["secret", "set", name, "--from-env", "VALUE", "--json"])),
        ...writers.map((name) => run(box, prefix, ["add", name, "--scope", "user", "--json", "--", "true"])),
      ]);
      chmodSync(join(box.folders.state, "state.sqlite"), 0o600);
      const said = (from: number) => writers.filter((_, index) => runs[from + index]?.code === 0);
      const secrets = (await box.cli(["secret", "list", "--json"])).json["secrets"] as { name: string }[];
      expect(secrets.map(({ name }) => name)).toEqual(["FIRST", ...said(0)]);
      const servers = (await box.cli(["list", "--json"])).json["servers"] as { name: string }[];
      expect(servers.map(({ name }) => name)).toEqual(said(writers.length));
      for (const { code, out, err } of runs) {
        if (code === 0) continue;
        expect(JSON.parse(out || err)).toMatchObject({
          error: { code: "store-unavailable", message: expect.stringContaining(box.folders.state) },
        });
        expect(code).toBe(5);
      }
    });

    test("M73 do not renew a person's login, which stays good for those who can lock it", async () => {
      const auth = await startAuthServer({ autoConsent: true, accessTokenMs: 3_600_000 });
      const server = await startProtectedMcp(auth);
      onTestFinished(async () => {
        await server.close();
        await auth.close();
      });
      const box = createSandbox();
      box.write("home/.config/plugboard/config.json", { mcpServers: { issues: { url: server.url } } });
      await using workspace = await Workspace.open(box.options);
      const config = await workspace.load();
      await using hub = await createHub(config, await workspace.hubOptions(config));
      await hub.login("issues", browser());
      auth.expireAccessTokens();
      prepare?.(box);
      const call = ["call", "issues.add", "a=1", "b=2", "--json"];
      const runs = await Promise.all(writers.map(() => run(box, prefix, call)));
      expect(runs.map(({ code }) => code)).toEqual(writers.map(() => 5));
      for (const { out } of runs) expect(out).toContain("has to be renewed");
      expect(auth.stats).toMatchObject({ refreshes: 0, reuses: 0 });
      chmodSync(workspace.stateFile, 0o600);
      expect(await run(box, [process.execPath], call)).toMatchObject({ code: 0 });
      expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
    });
  },
);

async function run(box: Sandbox, prefix: string[], args: string[]) {
  const [program = "", ...words] = [...prefix, commandLine, ...args];
  const child = spawn(program, words, {
    cwd: box.project,
    env: { ...box.env, VALUE: "secret value", NODE_COMPILE_CACHE: compiled },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number | null, out, err };
}
