import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { rolldown } from "rolldown";
import { expect, it, onTestFinished } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { createHub } from "../../src/index.ts";
import { chromiumPath, lacks } from "../machine.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";

const page = "ui://counter/main.html";
const patienceMs = 60_000;

/** A server with an app. Its twin has the same names and the same page, and answers for itself. */
function withApp(server: string, html: string): Script {
  const inputSchema = { type: "object" };
  const answer = (tool: string) => ({
    when: { tool },
    do: [{ answer: { content: [{ type: "text", text: `${tool} of ${server}` }] } }],
  });
  return {
    capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/ui": {} } },
    tools: [
      { name: "count", inputSchema, _meta: { ui: { resourceUri: page } } },
      { name: "refresh", inputSchema, _meta: { ui: { visibility: ["app"] } } },
    ],
    resources: [{ uri: page, name: "counter", mimeType: "text/html;profile=mcp-app" }],
    on: [
      answer("count"),
      answer("refresh"),
      {
        when: { method: "resources/read" },
        do: [{ answer: { contents: [{ uri: page, mimeType: "text/html;profile=mcp-app", text: html }] } }],
      },
    ],
  };
}

async function bundle(file: string): Promise<string> {
  const build = await rolldown({ input: join(import.meta.dirname, "apps", file), platform: "browser" });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return output[0].code.replaceAll("</script", String.raw`<\/script`);
}

/** A page on loopback; its origin is one that the gateway has to be told of. */
async function servePage(html: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end(html),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.skipIf(lacks("chromium"))(
  "M89 an app works behind the gateway, beside a server with the same names",
  { timeout: 120_000 },
  async () => {
    const [guest, host] = await Promise.all([bundle("guest.mjs"), bundle("host.mjs")]);
    const html = `<!doctype html><meta charset="utf-8"><body><script type="module">${guest}</script>`;
    const origin = await servePage(`<!doctype html><body><script type="module">${host}</script>`);
    await using hub = await createHub({
      servers: { left: inProcessFake(withApp("left", html)), right: inProcessFake(withApp("right", html)) },
    });
    const gateway = createGateway(hub, { token: "secret-token", allowedOrigins: [origin] });
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    const { url } = await gateway.listen();
    const chrome = await chromium.launch({
      executablePath: chromiumPath() ?? "chromium",
      timeout: patienceMs,
    });
    onTestFinished(() => chrome.close());
    const tab = await chrome.newPage();
    await tab.goto(origin);
    await tab.waitForFunction("globalThis.showApp");
    const shown = await tab.evaluate(`showApp(${JSON.stringify(url)}, "secret-token", "right__count")`);
    expect(shown).toEqual({
      tools: expect.arrayContaining(["left__count", "left__refresh", "right__count", "right__refresh"]),
      uri: `${page}#plugboard=right`,
    });
    const app = tab.frameLocator("iframe");
    const text = (id: string) => app.locator(`#${id}`).textContent({ timeout: patienceMs });
    expect(await text("refreshed")).toContain("refresh of right");
    expect(await text("shown")).toContain("count of right");
  },
);
