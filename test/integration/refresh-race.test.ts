import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createHub, Workspace } from "../../src/index.ts";
import { browser } from "../auth/oauth-fixture.ts";
import { createSandbox } from "../sandbox.ts";
import { startAuthServer, startProtectedMcp } from "../servers/auth/index.ts";

const program = join(import.meta.dirname, "..", "auth", "programs", "login-caller.ts");
const sum = { sum: 3 };

test("M73 twelve processes at the moment of expiry: one refresh, twelve answers, no reuse; ten times in a row", async () => {
  const { auth, start } = await openScene();
  const children = await start(12);
  for (let round = 1; round <= 10; round++) {
    auth.expireAccessTokens();
    expect(await Promise.all(children.map(call))).toEqual(children.map(() => sum));
    expect(auth.stats).toMatchObject({ refreshes: round, reuses: 0 });
  }
  await Promise.all(children.map(end));
});

test("M73 the process that renews the login is killed: another one does it, and nobody else notices", async () => {
  const { auth, start } = await openScene();
  const [victim, ...others] = await start(7);
  if (!victim) throw new Error("no process");
  const killed = Promise.withResolvers<void>();
  auth.expireAccessTokens();
  const before = tokenRequests();
  auth.set({ faults: { token: { times: 1, until: killed.promise, drop: "before" } } });
  victim.send("go");
  await vi.waitFor(() => expect(tokenRequests()).toBe(before + 1), { timeout: 60_000, interval: 20 });
  const answers = others.map(call);
  victim.kill("SIGKILL");
  await once(victim, "exit");
  killed.resolve();
  expect(await Promise.all(answers)).toEqual(others.map(() => sum));
  expect(auth.stats).toMatchObject({ refreshes: 1, reuses: 0 });
  await Promise.all(others.map(end));

  function tokenRequests(): number {
    return auth.received.filter(({ endpoint }) => endpoint === "token").length;
  }
});

/** A person who is logged in, and processes of theirs that are connected. */
async function openScene() {
  const auth = await startAuthServer({ autoConsent: true });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const box = createSandbox();
  const settings = { mcpServers: { issues: { url: server.url } } };
  box.write("home/.config/plugboard/config.json", settings);
  await using workspace = await Workspace.open({ cwd: box.home, env: { HOME: box.home } });
  const config = await workspace.load();
  await using hub = await createHub(config, await workspace.hubOptions(config));
  await hub.login("issues", browser());
  const start = async (count: number): Promise<ChildProcess[]> => {
    const children = Array.from({ length: count }, () =>
      fork(program, [box.home], { env: { HOME: box.home } }),
    );
    onTestFinished(() => void children.map((child) => child.kill("SIGKILL")));
    await Promise.all(children.map((child) => once(child, "message")));
    return children;
  };
  return { auth, start };
}

async function call(child: ChildProcess): Promise<unknown> {
  const answer = once(child, "message");
  child.send("go");
  return ((await answer) as unknown[])[0];
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.send("end");
  await gone;
}
