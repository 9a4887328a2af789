import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { add, browser, openScene } from "./oauth-fixture.ts";

function helper(body: string): { headersHelper: string[]; runs(): number; say(text: string): void } {
  const folder = mkdtempSync(join(tmpdir(), "plugboard-helper-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  const program = join(folder, "headers.mjs");
  const says = join(folder, "says");
  const runs = join(folder, "runs");
  writeFileSync(runs, "");
  const script = `import { appendFileSync, readFileSync } from "node:fs";
appendFileSync(${JSON.stringify(runs)}, "x");
const says = () => readFileSync(${JSON.stringify(says)}, "utf8");
${body}\n`;
  writeFileSync(program, script);
  chmodSync(program, 0o700);
  return {
    headersHelper: [process.execPath, program],
    runs: () => readFileSync(runs, "utf8").length,
    say: (text) => writeFileSync(says, text),
  };
}

const print = "process.stdout.write(says());";

async function loggedIn() {
  const scene = await openScene();
  const hub = await scene.hub();
  const token = async () => {
    await hub.login("issues", browser());
    const record = await (await scene.credentials.vault()).get(`tokens/${scene.server.url}|default`);
    return (record as { tokens: { access_token: string } }).tokens.access_token;
  };
  return { scene, token };
}

describe("a headers helper", () => {
  it.each([
    ["JSON", (token: string) => JSON.stringify({ Authorization: `Bearer ${token}` })],
    ["lines", (token: string) => `x-other: 1\nAuthorization: Bearer ${token}\n`],
  ])("prints %s, and is run again when the server refuses that", async (_kind, format) => {
    const { scene, token } = await loggedIn();
    const { headersHelper, runs, say } = helper(print);
    say(format(await token()));
    const hub = await scene.hub({ headersHelper });
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(runs()).toBe(1);
    scene.auth.expireAccessTokens();
    say(format(await token()));
    expect(await add(hub)).toEqual({ sum: 3 });
    expect(runs()).toBe(2);
  });

  it("is a command with arguments in one string, as Claude Code writes it", async () => {
    const { scene, token } = await loggedIn();
    const { headersHelper } = helper('process.stdout.write("Authorization: Bearer " + process.argv[2]);');
    const [node = "", program = ""] = headersHelper;
    const hub = await scene.hub({ headersHelper: `"${node}" ${program} ${await token()}` });
    expect(await add(hub)).toEqual({ sum: 3 });
  });

  it("never starts a login, and reports what is wrong without repeating the output", async () => {
    const { scene } = await loggedIn();
    const { headersHelper, say } = helper(print);
    say("Authorization: Bearer canary-wrong");
    const refused = await scene.hub({ headersHelper });
    await expect(refused.connect("issues")).rejects.toMatchObject({ code: "auth-failed" });
    say("canary-not-a-header");
    const odd = (await scene.hub({ headersHelper })).connect("issues");
    await expect(odd).rejects.toMatchObject({
      code: "auth-failed",
      message: expect.not.stringContaining("canary") as string,
    });
    const failing = helper("process.exit(3);");
    const failed = (await scene.hub({ headersHelper: failing.headersHelper })).connect("issues");
    await expect(failed).rejects.toThrow("exited with code 3");
    const missing = (await scene.hub({ headersHelper: ["/does/not/exist"] })).connect("issues");
    await expect(missing).rejects.toThrow("was not found");
    expect(scene.auth.received).toEqual([]);
  });
});
