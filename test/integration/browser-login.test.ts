import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { chromiumPath, lacks } from "../machine.ts";
import { runNode } from "../run-command.ts";
import type { CommandRun } from "../run-command.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import type { AuthOptions } from "../fixtures/auth/index.ts";
import { commandLine } from "../command-line.ts";

const patienceMs = 120_000;
const heading = "Logged in to issues";

let chrome: Browser;
beforeAll(async () => {
  if (lacks("chromium")) return;
  chrome = await chromium.launch({ executablePath: chromiumPath() ?? "chromium", timeout: patienceMs });
});
afterAll(() => chrome?.close());

describe.skipIf(lacks("chromium"))("plugboard login in a real browser", () => {
  it("logs in who clicks Allow, and says so on the page and in the terminal", async () => {
    const { auth, server, box, secrets } = await open();
    const opened = installOpener(box);
    const login = startCli(box, "login", "issues");
    const { page, complaints } = await newPage();
    await page.goto(await login.whileRunning(opened));
    expect(await page.textContent("#client")).toBe("Plugboard");
    expect(await page.textContent("#resource")).toBe(server.url);
    await allow(page, "<b>nobody</b>");
    await page.waitForSelector("#message");
    expect(await page.textContent("#message")).toBe("Nobody here is called <b>nobody</b>.");
    await allow(page, "grace");
    await page.waitForURL(/\/callback\?/);

    expect(await page.title()).toBe(heading);
    expect(await page.innerText("body")).toBe(
      `${heading}\n\nYou can close this page and return to the terminal.\n\nPlugboard`,
    );
    expect(secrets.map(({ kind }) => kind)).toEqual(["code", "access", "refresh"]);
    const sent = auth.received.flatMap(({ params }) =>
      ["state", "code_verifier"].map((it) => params.get(it)),
    );
    const hidden = [...secrets.map(({ value }) => value), ...sent.filter((value) => value !== null)];
    const source = await page.content();
    expect(hidden.filter((value) => source.includes(value))).toEqual([]);
    // Before the next step, which provokes one.
    expect(complaints).toEqual([]);
    await expect(page.addScriptTag({ content: "document.title = 'mine'" })).rejects.toThrow(
      /Content Security Policy/,
    );
    expect(await page.title()).toBe(heading);

    const { code, out } = await login.ended;
    expect([code, out]).toEqual([0, expect.stringContaining(`Logged in to issues: grace at ${auth.issuer}`)]);
    await expectUser("grace", { box, auth, server });
  });

  it("takes Deny for an answer", async () => {
    const { box } = await open();
    const opened = installOpener(box);
    const login = startCli(box, "login", "issues");
    const { page } = await newPage();
    await page.goto(await login.whileRunning(opened));
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(/\/callback\?/);
    expect(await page.title()).toBe("Not logged in to issues");
    expect(await page.innerText("body")).toBe(
      "Not logged in to issues\n\nThe login was refused.\n\nYou can close this page.\n\nPlugboard",
    );
    const { code, out, err } = await login.ended;
    expect([code, out]).toEqual([6, ""]);
    expect(err).toContain('The login to "issues" was denied: The user said no.');
    expect((await cli(box, "status")).out).toContain("plugboard login issues");
  });

  it("shows and runs nothing that a hostile response brings along", async () => {
    const markup = "<img src=x onerror=\"document.title='mine'\"><script>document.title='mine'</script>";
    const { box } = await open({
      alter: {
        authorization: (response) => {
          for (const name of ["error", "error_description", "error_uri"]) response.set(name, markup);
          return response;
        },
      },
    });
    const opened = installOpener(box);
    const login = startCli(box, "login", "issues");
    const { page, complaints } = await newPage();
    await page.goto(await login.whileRunning(opened));
    await allow(page, "ada");
    await page.waitForURL(/\/callback\?/);
    expect(await page.title()).toBe("Not logged in to issues");
    expect(await page.locator("script, img").count()).toBe(0);
    expect(await page.content()).not.toContain("mine");
    expect(complaints).toEqual([]);
    expect((await login.ended).code).toBe(6);
  });

  it("is over when the browser comes back a second time", async () => {
    const { auth, box } = await open();
    const exchange = Promise.withResolvers<void>();
    auth.set({ faults: { token: { until: exchange.promise } } });
    const opened = installOpener(box);
    const login = startCli(box, "login", "issues");
    const [{ page }, { page: second }] = [await newPage(), await newPage()];
    await page.goto(await login.whileRunning(opened));
    const asked = page.waitForRequest(/\/callback\?/);
    // The click ends with the navigation, which the exchange holds up.
    const back = Promise.all([page.waitForURL(/\/callback\?/), allow(page, "ada")]);
    const request = await asked;
    const isExchanging = () => auth.received.some(({ endpoint }) => endpoint === "token");
    await expect.poll(isExchanging, { timeout: patienceMs }).toBe(true);

    expect((await second.goto(request.url()))?.status()).toBe(410);
    expect(await second.title()).toBe("This login is already finished");
    expect(await second.innerText("body")).toContain("See the terminal for the result.");

    exchange.resolve();
    await back;
    expect(await page.title()).toBe(heading);
    expect((await login.ended).code).toBe(0);
    await expect(page.reload()).rejects.toThrow("ERR_CONNECTION_REFUSED");
    expect(auth.stats).toMatchObject({ authorizations: 1, tokens: 1 });
  });

  it("works from the address on the screen where no browser can be opened", async () => {
    const { box } = await open();
    box.env["PATH"] = box.path("home/bin");
    const login = startCli(box, "login", "issues");
    const [, url = ""] = await login.said(/(http:\S+\/authorize\S+)[^]*Could not open a browser here/);
    const { page } = await newPage();
    await page.goto(url);
    await allow(page, "grace");
    await page.waitForURL(/\/callback\?/);
    expect(await page.title()).toBe(heading);
    expect((await login.ended).out).toContain("Logged in to issues: grace");
  });
});

describe.skipIf(lacks("chromium"))("plugboard login with the browser on another machine", () => {
  it("takes the address of the page that could not be loaded", async () => {
    const { auth, server, box } = await open();
    const login = startCli(box, "login", "issues", "--no-browser");
    const [url = ""] = await login.said(/http:\S+\/authorize\S+/);
    const { page, addressBar } = await newPage({ unreachable: "*/callback*" });
    await page.goto(url);
    await allow(page, "grace");
    await page.waitForURL("chrome-error://chromewebdata/");
    const address = await addressBar();
    expect(address).toContain("/callback?code=");
    login.type(`${address}\n`);
    const { code, out } = await login.ended;
    expect([code, out]).toEqual([0, expect.stringContaining("Logged in to issues: grace")]);
    await expectUser("grace", { box, auth, server });
  });

  it("takes a code that is typed in there", async () => {
    const { auth, server, box } = await open();
    const login = startCli(box, "login", "issues", "--device");
    const page = await enterDeviceCode(login);
    await allow(page, "grace");
    await page.waitForSelector("#message");
    expect(await page.textContent("#message")).toBe("Done. Go back to the device.");
    const { code, out } = await login.ended;
    expect([code, out]).toEqual([0, expect.stringContaining("Logged in to issues: grace")]);
    await expectUser("grace", { box, auth, server });
  });

  it("ends when the code is typed in and denied", async () => {
    const { box } = await open();
    const login = startCli(box, "login", "issues", "--device");
    const page = await enterDeviceCode(login);
    await page.getByRole("button", { name: "Deny" }).click();
    const { code, err } = await login.ended;
    expect(code).toBe(6);
    expect(err).toMatch(/"issues".*the user said no\./);
  });
});

async function open(options: AuthOptions = {}) {
  const secrets: { kind: string; value: string }[] = [];
  const auth = await startAuthServer({
    users: ["ada", "grace"],
    userField: "typed",
    deviceIntervalMs: 1,
    createToken: (kind) => {
      const value = `canary-${kind}-${crypto.randomUUID()}`;
      secrets.push({ kind, value });
      return value;
    },
    ...options,
  });
  const server = await startProtectedMcp(auth);
  onTestFinished(async () => {
    expect(auth.errors).toEqual([]);
    await server.close();
    await auth.close();
  });
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url } } },
  });
  return { auth, server, box, secrets };
}

type Scene = Awaited<ReturnType<typeof open>>;

async function expectUser(user: string, { box, auth, server }: Pick<Scene, "box" | "auth" | "server">) {
  const called = await cli(box, "call", "issues.add", "a=1", "b=2", "--json");
  expect([called.code, JSON.parse(called.out)]).toMatchObject([0, { structuredContent: { sum: 3 } }]);
  const token = String(server.received.at(-1)?.headers["authorization"]).replace(/^Bearer /, "");
  expect(auth.introspect(token)).toMatchObject({ active: true, sub: user });
  const status = await cli(box, "status");
  expect([status.code, status.out]).toEqual([0, expect.stringContaining(`issues as ${user} at `)]);
}

/** A page in a profile of its own, and what the browser complains about. */
async function newPage({ unreachable }: { unreachable?: string } = {}) {
  const context = await chrome.newContext();
  onTestFinished(() => context.close());
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  // A status such as 400 is logged as an error too; what it stands for is on the page.
  page.on("console", (message) => {
    if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  const devtools = await context.newCDPSession(page);
  if (unreachable !== undefined) {
    // Not `page.route`: that does not see where a redirect leads.
    devtools.on("Fetch.requestPaused", ({ requestId }) => {
      void devtools.send("Fetch.failRequest", { requestId, errorReason: "ConnectionRefused" });
    });
    await devtools.send("Fetch.enable", { patterns: [{ urlPattern: unreachable }] });
  }
  const addressBar = async () => {
    const { entries, currentIndex } = await devtools.send("Page.getNavigationHistory");
    return entries[currentIndex]?.url;
  };
  return { page, complaints, addressBar };
}

async function allow(page: Page, user: string): Promise<void> {
  await page.getByLabel("User name").fill(user);
  await page.getByRole("button", { name: "Allow" }).click();
}

async function enterDeviceCode(login: RunningCli): Promise<Page> {
  const [, url = "", userCode = ""] = await login.said(/Open (\S+) on any device .* the code (\S+)\n/);
  const { page } = await newPage();
  await page.goto(url);
  await page.getByLabel("Code").fill(userCode.toLowerCase());
  await page.getByRole("button", { name: "Next" }).click();
  await page.waitForSelector("#allow");
  return page;
}

/** The only program on the PATH: what Plugboard opens a browser with. It tells the test what it was given. */
async function installOpener(box: Sandbox): Promise<string> {
  const door = box.path("opener");
  const script = `#!${process.execPath}
require("node:net").connect(${JSON.stringify(door)}).end(JSON.stringify(process.argv.slice(2)));
`;
  const name = process.platform === "darwin" ? "open" : "xdg-open";
  chmodSync(box.write(`home/bin/${name}`, script), 0o755);
  box.env["PATH"] = box.path("home/bin");
  const listener = createServer().listen(door);
  onTestFinished(() => void listener.close());
  const [socket] = await once(listener, "connection");
  const given = JSON.parse(await text(socket)) as string[];
  expect(given).toHaveLength(1);
  return given[0] ?? "";
}

function cli(box: Sandbox, ...args: string[]): Promise<CommandRun> {
  return runNode([commandLine, ...args], { cwd: box.project, env: box.env });
}

type RunningCli = ReturnType<typeof startCli>;

/** The real command line, which waits for somebody to log in. */
function startCli(box: Sandbox, ...args: string[]) {
  const child = spawn(process.execPath, [commandLine, ...args], { cwd: box.project, env: box.env });
  onTestFinished(() => void child.kill());
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => void (out += more));
  child.stderr.setEncoding("utf8").on("data", (more: string) => void (err += more));
  const ended = once(child, "close").then(([code]): CommandRun => ({ code, out, err }));
  const whileRunning = <T>(wanted: Promise<T>): Promise<T> =>
    Promise.race([
      wanted,
      ended.then((run) => {
        throw new Error(`It ended too early, with ${run.code}: ${run.out}${run.err}`);
      }),
    ]);
  return {
    ended,
    whileRunning,
    /** Standard error, once it has this. */
    said: (pattern: RegExp): Promise<RegExpExecArray> => {
      const { promise, resolve } = Promise.withResolvers<RegExpExecArray>();
      const look = () => {
        const found = pattern.exec(err);
        if (found) resolve(found);
      };
      child.stderr.on("data", look);
      look();
      return whileRunning(promise);
    },
    type: (input: string) => void child.stdin.end(input),
  };
}
