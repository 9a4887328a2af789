import { expect, it, onTestFinished } from "vitest";
import { createKey, GRANTS, startAuthServer, startProtectedMcp } from "../fixtures/auth/index.ts";
import { Workspace } from "../../src/config.ts";
import { redirectOf } from "../auth/oauth-fixture.ts";
import { runNode } from "../run-command.ts";
import { createSandbox } from "../sandbox.ts";
import { commandLine } from "../command-line.ts";

const platform = "https://platform.example";
const key = createKey();

/** A server whose login moves from one authorization server to another, used by one program after the other. */
async function open(oauthFor: (issuer: string) => object) {
  const options = {
    autoConsent: true,
    grantTypes: [GRANTS.client, GRANTS.jwt],
    trusted: { [platform]: [key.jwk] },
    clients: [{ client_id: "robot", client_secret: "s3cret-of-the-robot" }],
  };
  const [first, second] = [await startAuthServer(options), await startAuthServer(options)];
  const server = await startProtectedMcp(first);
  onTestFinished(async () => {
    for (const one of [server, first, second]) await one.close();
  });
  const oauth = oauthFor(first.issuer);
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { issues: { url: server.url, oauth } } },
  });
  const run = (...args: string[]) => runNode([commandLine, ...args], { cwd: box.project, env: box.env });
  const call = () => run("call", "issues.add", "a=1", "b=2");
  const change = () => {
    server.set({ authorizationServers: [second.issuer] });
    first.expireAccessTokens();
  };
  return { first, second, server, box, run, call, change };
}

it.each([
  [
    "a client secret",
    () => ({ grant: "client-credentials", clientId: "robot", clientSecret: "s3cret-of-the-robot" }),
  ],
  [
    "a workload's token",
    (aud: string) => ({ grant: "jwt-bearer", assertion: key.sign({ iss: platform, sub: "job-7", aud }) }),
  ],
])("M72 in the next process, %s reaches no other authorization server", async (_name, oauthFor) => {
  const { first, second, call, run, change } = await open(oauthFor);
  const before = await call();
  expect([before.code, before.err]).toEqual([0, expect.stringContaining(`sent to ${first.issuer}`)]);
  change();
  for (const after of [await call(), await run("login", "issues")]) {
    expect(after.code).toBe(6);
    for (const words of [first.issuer, second.issuer, "oauth.issuer"]) expect(after.err).toContain(words);
  }
  expect(second.received.filter(({ endpoint }) => endpoint !== "metadata")).toEqual([]);
});

it("M72 in the next process, a person's login reaches no other authorization server, and both are named", async () => {
  const { first, second, box, call, run, change } = await open(() => ({}));
  const address = Promise.withResolvers<string>();
  await box.cli(["login", "issues", "--no-browser"], {
    get input() {
      return address.promise.then((url) => redirectOf(new URL(url))) as unknown as string;
    },
    onErr: (err) => {
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/authorize\S+/.exec(err) ?? [];
      if (url !== undefined) address.resolve(url);
    },
  });
  expect((await call()).code).toBe(0);
  change();
  for (const after of [await call(), await run("login", "issues", "--no-browser")]) {
    expect(after.code).toBe(6);
    for (const words of [first.issuer, second.issuer]) expect(after.err).toContain(words);
  }
  const { asked } = await box.cli(["login", "issues"], { forms: [false] });
  expect(asked.join("\n")).toContain(
    `before: ${new URL(first.issuer).host}\n  now:    ${new URL(second.issuer).host}`,
  );
  expect(second.received.filter(({ endpoint }) => endpoint !== "metadata")).toEqual([]);
});

it("the question tells issuers on one host apart, and names every host that receives something", async () => {
  const tenant = await startAuthServer({ path: "/tenant-b", autoConsent: true });
  onTestFinished(() => tenant.close());
  const { box, second, server } = await open(() => ({
    clientId: "robot",
    clientSecret: "s3cret-of-the-robot",
  }));
  const { origin, host } = new URL(tenant.issuer);
  const before = { issuer: `${origin}/tenant-a`, origins: [origin] };
  const workspace = await Workspace.open(box.options);
  await (await workspace.credentials.vault()).set(`client/${server.url}|registered|robot`, before);
  await workspace.close();
  server.set({ authorizationServers: [tenant.issuer] });
  tenant.set({ alter: { metadata: (all) => ({ ...all, token_endpoint: `${second.issuer}/token` }) } });
  const { asked } = await box.cli(["login", "issues"], { forms: [false] });
  expect(asked.join("\n")).toContain(
    [
      `  before: ${host}`,
      `          ${before.issuer}`,
      `  now:    ${host}`,
      `          ${tenant.issuer}`,
      `  sends to: ${new URL(second.issuer).host}`,
      "It would receive the client secret.",
    ].join("\n"),
  );
});
