import { spawn } from "node:child_process";
import { chmodSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";
import { redirectOf } from "./oauth-fixture.ts";
import { commandLine } from "../command-line.ts";

async function open(options: AuthOptions = {}) {
  const secrets: string[] = [];
  const auth = await startAuthServer({
    autoConsent: true,
    createToken: (kind) => {
      const value = `canary-${kind}-${secrets.length}-${Math.random().toString(36).slice(2)}`;
      secrets.push(value);
      return value;
    },
    ...options,
  });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    await server.close();
    await auth.close();
  });
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url } } },
  });
  return { auth, server, box, secrets };
}

/** A browser for the PATH: a program that follows the address it is given. */
function installBrowser(box: Sandbox): () => string[] {
  const log = box.path("home/opened");
  const script = `#!${process.execPath}
require("node:fs").appendFileSync(${JSON.stringify(log)}, JSON.stringify(process.argv.slice(2)) + "\\n");
fetch(process.argv[2]).then((response) => response.text());
`;
  const program = box.write("home/bin/xdg-open", script);
  chmodSync(program, 0o755);
  box.env["PATH"] = box.path("home/bin");
  return () => readFileSync(log, "utf8").trim().split("\n");
}

/** Logs in as on a machine without a browser: the address is read from the screen and pasted back. */
async function paste(box: Sandbox, ...more: string[]) {
  const url = Promise.withResolvers<string>();
  const run = box.cli(["login", "issues", "--no-browser", ...more], {
    get input() {
      return url.promise.then((address) => redirectOf(new URL(address))) as unknown as string;
    },
    onErr: (err) => {
      const [, address] = /(http:\/\/127\.0\.0\.1:\d+\/authorize\S+)/.exec(err) ?? [];
      if (address !== undefined) url.resolve(address);
    },
  });
  return run;
}

describe("plugboard login", () => {
  it.runIf(process.platform === "linux")(
    "opens the browser with one argument and waits for it to come back",
    async () => {
      const { box } = await open();
      const opened = installBrowser(box);
      const { code, out, err } = await box.cli(["login", "issues"]);
      expect([code, out]).toEqual([
        0,
        expect.stringContaining("Logged in to issues: ada at http://127.0.0.1"),
      ]);
      expect(opened()).toHaveLength(1);
      const [address] = JSON.parse(opened()[0] ?? "[]") as string[];
      expect(err).toContain(address);
    },
  );

  it.each(["pasted", "opened"] as const)(
    "M71 ends with the line of a redirect that is %s, while its input stays open",
    async (how) => {
      const { box } = await open();
      const child = spawn(process.execPath, [commandLine, "login", "issues", "--no-browser"], {
        cwd: box.project,
        env: box.env,
        stdio: ["pipe", "pipe", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
      let err = "";
      const shown = Promise.withResolvers<URL>();
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        err += text;
        const [address] = /http:\/\/127\.0\.0\.1:\d+\/authorize\S+(?=\n)/.exec(err) ?? [];
        if (address !== undefined) shown.resolve(new URL(address));
      });
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => void (out += text));
      const redirect = await redirectOf(await shown.promise);
      // Whoever opens the page on this machine needs to paste nothing.
      if (how === "pasted") child.stdin.write(`\n${redirect}\r\nmore`);
      else await fetch(redirect).then((response) => response.text());
      expect(await ended).toBe(0);
      expect(out).toContain("Logged in to issues");
    },
  );

  it("takes the pasted redirect, shows the account, calls, and logs out", async () => {
    const { auth, box } = await open();
    const before = await box.cli(["call", "issues.add", "a=1", "b=2"]);
    expect(before.code).toBe(6);
    expect(before.err).toContain("plugboard login issues");
    const { code, json } = await paste(box, "--json");
    expect(code).toBe(0);
    expect(json).toMatchObject({ server: "issues", account: { user: "ada", renewable: true } });
    const called = await box.cli(["call", "issues.add", "a=1", "b=2", "--json"]);
    expect([called.code, called.json]).toMatchObject([0, { structuredContent: { sum: 3 } }]);
    expect((await box.cli(["get", "issues"])).out).toContain("as    ada at ");
    expect((await box.cli(["get", "issues", "--json"])).json).toMatchObject({ account: { user: "ada" } });
    expect((await box.cli(["status"])).out).toContain("issues as ada at ");
    expect((await box.cli(["status", "--json"])).json).toMatchObject({
      servers: [{ account: { user: "ada", issuer: auth.issuer } }],
    });
    const left = await box.cli(["logout", "issues", "--json"]);
    expect(left.json).toEqual({ server: "issues", loggedOut: true, revoked: true });
    const again = await box.cli(["logout", "issues"]);
    expect(again.err).toContain("not logged in");
    expect((await box.cli(["status"])).out).toContain("plugboard login issues");
  });

  it("shows a code for another device", async () => {
    const { auth, box } = await open({ deviceIntervalMs: 1 });
    let approved = false;
    const { code } = await box.cli(["login", "issues", "--device"], {
      onErr: (err) => {
        const [, userCode] = /the code (\S+)/.exec(err) ?? [];
        if (userCode === undefined || approved) return;
        approved = true;
        auth.approveDevice(userCode);
      },
    });
    expect(code).toBe(0);
  });

  it("works again while the key of the old login is not available, and keeps all other records", async () => {
    const { auth, box } = await open();
    box.env["PLUGBOARD_VAULT_PASSPHRASE"] = "canary passphrase";
    expect((await paste(box)).code).toBe(0);
    expect((await paste(box, "--profile", "work")).code).toBe(0);
    const { PLUGBOARD_VAULT_PASSPHRASE: passphrase, ...env } = box.env;
    const call = ["call", "issues.add", "a=1", "b=2"];
    box.env = env;
    expect((await box.cli(call)).err).toContain("is encrypted with a passphrase");
    expect(await paste(box)).toMatchObject({
      code: 0,
      err: expect.not.stringContaining("passphrase") as string,
    });
    expect((await box.cli(call)).code).toBe(0);
    box.env = { ...env, PLUGBOARD_VAULT_PASSPHRASE: passphrase ?? "" };
    for (const profile of ["default", "work"])
      expect((await box.cli([...call, "--profile", profile])).code).toBe(0);
    expect(auth.stats).toMatchObject({ authorizations: 3, refreshes: 0 });
  });

  it("never shows a token, code or secret on a screen, in JSON or in a file", async () => {
    const { auth, box, secrets } = await open();
    const runs = [await paste(box), await box.cli(["call", "issues.add", "a=1", "b=2", "--json"])];
    auth.expireAccessTokens();
    runs.push(await box.cli(["call", "issues.add", "a=1", "b=2"]));
    auth.expireAccessTokens();
    auth.set({
      faults: {
        token: {
          answer: { status: 400, body: { error: "invalid_request", error_description: secrets.join(" ") } },
        },
      },
    });
    runs.push(
      await box.cli(["status", "--json"]),
      await box.cli(["status"]),
      await box.cli(["get", "issues", "--json"]),
    );
    runs.push(await box.cli(["logout", "issues", "--json"]));
    expect(auth.stats.refreshes).toBe(1);
    expect(secrets.length).toBeGreaterThanOrEqual(5);
    const seen = [...runs.flatMap(({ out, err }) => [out, err]), ...filesBelow(box.home)].join("\n");
    const verifiers = auth.received.flatMap(({ params }) => params.getAll("code_verifier"));
    expect(verifiers).not.toEqual([]);
    expect([...secrets, ...verifiers].filter((secret) => seen.includes(secret))).toEqual([]);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"));
}
