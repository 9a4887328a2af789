import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";
import { startServing } from "./serving.ts";

const user = "home/.config/plugboard/config.json";
const config = {
  mcpServers: { it: fakeStdio() },
  approval: "prompt",
  approvals: { queue: true },
};
const keyFile = "home/.local/state/plugboard/gateway/approval-key";

/** The id of the question about a call that was made without a terminal, and the run of that call. */
async function waitingCall(box: Sandbox, args: readonly string[] = []) {
  const said = Promise.withResolvers<string>();
  const run = box.cli(["call", "it.add", "a:=1", "b:=2", ...args], {
    onErr: (err) => {
      const id = /plugboard approvals answer (q_[a-z2-7]{20}) allow/.exec(err)?.[1];
      if (id !== undefined) said.resolve(id);
    },
  });
  const id = await Promise.race([said.promise, run.then(({ err }) => Promise.reject(new Error(err)))]);
  return { id, run };
}

describe("M61 plugboard approvals", () => {
  it("lists a call that waits in another process, and lets it run", async () => {
    const box = createSandbox({ [user]: config });
    const { id, run } = await waitingCall(box);
    const { out } = await box.cli(["approvals"]);
    expect(out).toContain(id);
    for (const part of ["add of it", "a  1", "b  2", "requires approval", "expires in 59 minutes", "Always"])
      expect(out).toContain(part);
    const { json } = await box.cli(["approvals", "--json"]);
    expect(json).toMatchObject({ waiting: [{ id, server: "it", tool: "add", arguments: { a: 1, b: 2 } }] });
    const answer = await box.cli(["approvals", "answer", id.slice(0, 8), "allow"]);
    expect(answer).toMatchObject({ code: 0, out: expect.stringContaining("Allowed add of it") });
    const { code, out: result } = await run;
    expect([code, result]).toEqual([0, expect.stringContaining("3")]);
    expect((await box.cli(["approvals"])).out).toBe("No call waits for approval.\n");
  });

  it("denies with a reason that the caller reads", async () => {
    const box = createSandbox({ [user]: config });
    const { id, run } = await waitingCall(box);
    const { json } = await box.cli(["approvals", "answer", id, "deny", "--reason", "not today", "--json"]);
    expect(json).toMatchObject({ id, state: "denied", decision: "deny" });
    const { code, err } = await run;
    expect(code).toBe(7);
    expect(err).toContain("not today");
  });

  it("remembers an answer for good with --always", async () => {
    const box = createSandbox({ [user]: config });
    const { id, run } = await waitingCall(box);
    await box.cli(["approvals", "answer", id, "allow", "--always"]);
    expect((await run).code).toBe(0);
    expect((await box.cli(["approvals", "list"])).out).toContain("add");
    expect(await box.cli(["call", "it.add", "a:=1", "b:=2"])).toMatchObject({ code: 0 });
  });

  it("says that an answer comes too late, to nothing, or is none", async () => {
    const box = createSandbox({ [user]: config });
    const { id, run } = await waitingCall(box);
    await box.cli(["approvals", "answer", id, "allow"]);
    await run;
    const late = await box.cli(["approvals", "answer", id, "allow"]);
    expect(late).toMatchObject({ code: 4, err: expect.stringContaining("answered already") });
    expect(late.err).toContain("Nothing was run");
    expect(await box.cli(["approvals", "answer", "q_nothing", "allow"])).toMatchObject({ code: 4 });
    expect(await box.cli(["approvals", "answer", id, "perhaps"])).toMatchObject({ code: 2 });
    expect(await box.cli(["approvals", "answer", id, "deny", "--always"])).toMatchObject({ code: 2 });
    expect(await box.cli(["approvals", "answer", id, "allow", "--always", "--session"])).toMatchObject({
      code: 2,
    });
  });

  it("says why nothing waits if the queue is off", async () => {
    const { out, err } = await createSandbox().cli(["approvals"]);
    expect(out).toBe("No call waits for approval.\n");
    expect(err).toContain("approvals.queue");
  });

  it("shows nothing of a server's texts that a terminal would act on", async () => {
    const server = fakeStdio();
    const box = createSandbox({ [user]: { ...config, mcpServers: { it: server } } });
    const said = Promise.withResolvers<void>();
    const run = box.cli(["call", "it.echo", `text=\u001b]0;x\u0007\u202eevil`], {
      onErr: (err) => err.includes("waits for approval") && said.resolve(),
    });
    await said.promise;
    const { out } = await box.cli(["approvals"]);
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    const [first] = ((await box.cli(["approvals", "--json"])).json["waiting"] ?? []) as { id: string }[];
    await box.cli(["approvals", "answer", first?.id ?? "", "deny"]);
    await run;
  });

  it("cuts long arguments on a screen, each by itself, and says where all of them are; a pipe gets everything", async () => {
    const box = createSandbox({ [user]: config });
    const said = Promise.withResolvers<void>();
    const text = `${"line\n".repeat(200)}  path  /srv`;
    const run = box.cli(["call", "it.echo", JSON.stringify({ text, path: "docs" })], {
      onErr: (err) => err.includes("waits for approval") && said.resolve(),
    });
    await said.promise;
    const drawn = await box.cli(["approvals"], { screen: { columns: 80, rows: 40 } });
    expect(drawn.out.split("\n").length).toBeLessThan(40);
    expect(drawn.out).toMatch(/^ {4}path {2}docs$/m);
    expect(drawn.out).toMatch(/^ {6}│ {3}path {2}\/srv$/m);
    expect(drawn.out).toContain("Cut to fit the screen: `plugboard approvals --json` shows everything.");
    const piped = await box.cli(["approvals"]);
    expect(piped.out.match(/│ line/g)).toHaveLength(200);
    expect(piped.out).not.toContain("Cut to fit");
    const [first] = ((await box.cli(["approvals", "--json"])).json["waiting"] ?? []) as { id: string }[];
    await box.cli(["approvals", "answer", first?.id ?? "", "deny"]);
    await run;
  });

  it("is refused with its reason where the state cannot be written", async () => {
    const box = createSandbox({
      [user]: config,
      "home/.local/state/plugboard": "a file in place of the folder",
    });
    const { code, err } = await box.cli(["call", "it.add", "a:=1", "b:=2"]);
    expect(code).toBe(7);
    expect(err).toMatch(/not approved: the question about it could not be stored/);
    expect(err).not.toContain("plugboard approvals answer");
  });
});

describe("M61 serve with waiting calls", () => {
  it("names the file of the approval key, which only this user reads, and never the key", async () => {
    const box = createSandbox({ [user]: config });
    const serving = await startServing(box);
    const path = box.path(keyFile);
    expect(serving).toMatchObject({ approvalKeyFile: path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const key = readFileSync(path, "utf8").trim();
    expect(key).not.toBe(serving.token);
    const client = await serving.open("modern");
    const sent = client.once("tools/call", { name: "it__add", arguments: { a: 1, b: 2 } });
    await serving.logs(/it: a call waits for approval: plugboard approvals answer q_\w+ allow, or deny/);
    const api = serving.url.replace("/mcp", "/api/approvals");
    const as = (bearer: string | undefined) => fetch(api, { headers: { authorization: `Bearer ${bearer}` } });
    expect((await as(serving.token)).status).toBe(403);
    const { approvals } = (await (await as(key)).json()) as { approvals: { id: string }[] };
    expect(approvals).toHaveLength(1);
    await box.cli(["approvals", "answer", approvals[0]?.id ?? "", "allow"]);
    expect(JSON.stringify(await client.result(sent))).toContain("3");
    const { out, err } = await serving.stop();
    expect(out + err).not.toContain(key);
  });

  it("makes no key if no call waits", async () => {
    const box = createSandbox({ [user]: { ...config, approvals: {} } });
    const serving = await startServing(box);
    expect(serving).not.toHaveProperty("approvalKeyFile");
  });

  it("refuses a key that is the clients' token", async () => {
    const box = createSandbox({ [user]: config });
    Object.assign(box.env, {
      PLUGBOARD_TOKEN: "one-text-for-everybody",
      PLUGBOARD_APPROVAL_KEY: "one-text-for-everybody",
    });
    const { code, err } = await box.cli(["serve", "--port", "0"]);
    expect(code).toBe(2);
    expect(err).toContain("whoever makes a call could approve it");
  });
});

describe("M61 who configures approval", () => {
  it("is the user: a project's `approvals` are ignored, and it is said", async () => {
    const box = createSandbox({
      "project/.plugboard/config.json": {
        approvals: { queue: true, webhook: { url: "https://evil.example", secret: "x".repeat(20) } },
      },
    });
    await box.cli(["trust", "--yes"]);
    const { out, err } = await box.cli(["config", "validate"]);
    expect(out + err).toContain("a project cannot choose who approves calls");
    expect((await box.cli(["approvals"])).err).toContain("approvals.queue");
  });

  it("never shows the webhook's secret", async () => {
    const secret = "Zq8-very-secret-webhook-text";
    const webhook = { url: `https://hooks.example/x?key=${secret}`, secret };
    const box = createSandbox({ [user]: { ...config, approvals: { queue: true, webhook } } });
    for (const args of [
      ["config", "show"],
      ["config", "show", "--json"],
      ["config", "validate"],
      ["doctor"],
    ]) {
      const { out, err } = await box.cli(args);
      expect(out + err).not.toContain(secret);
    }
  });

  it("is told about a webhook over plain HTTP to another machine", async () => {
    const webhook = { url: "http://hooks.example/x", secret: "${secret:HOOK}" };
    const box = createSandbox({ [user]: { ...config, approvals: { queue: true, webhook } } });
    const { code, out, err } = await box.cli(["config", "validate"]);
    expect(code).not.toBe(0);
    expect(out + err).toContain("expected an https URL");
  });
});
