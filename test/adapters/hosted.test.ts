import { describe, expect, it } from "vitest";
import { anthropicHostedServer } from "../../src/adapters/anthropic.ts";
import { openAiAgentsHostedServer } from "../../src/adapters/openai-agents.ts";
import { openAiHostedServer } from "../../src/adapters/openai.ts";
import { openFake, openHub } from "../servers/hub-fixture.ts";

const url = "https://mcp.example.com/mcp";

describe("M64 a public server that the provider calls by itself", () => {
  it("becomes a hosted definition with the tools that the rules allow", async () => {
    await using fake = await openFake({});
    const entry = {
      url: fake.url,
      tools: { allow: ["add", "echo", "fail"] },
      approval: { tools: { echo: "prompt", fail: "deny" } } as const,
    };
    await using hub = await openHub({ it: entry }, { env: {} });
    const authorization = "a-token";
    expect(await openAiHostedServer(hub, "it", { url, authorization })).toEqual({
      type: "mcp",
      server_label: "it",
      server_url: url,
      authorization,
      allowed_tools: ["add", "echo"],
      require_approval: { always: { tool_names: ["echo"] }, never: { tool_names: ["add"] } },
    });
    expect(await anthropicHostedServer(hub, "it", { url, authorization })).toEqual({
      mcp_servers: [{ type: "url", name: "it", url, authorization_token: authorization }],
      tools: [
        {
          type: "mcp_toolset",
          mcp_server_name: "it",
          default_config: { enabled: false },
          // Nobody could be asked about `echo`.
          configs: { add: { enabled: true } },
        },
      ],
    });
    const { providerData } = await openAiAgentsHostedServer(hub, "it", { url });
    expect(providerData).toMatchObject({
      type: "mcp",
      server_label: "it",
      server_url: url,
      allowed_tools: { tool_names: ["add", "echo"] },
    });
    expect(JSON.stringify(providerData)).not.toContain(authorization);
  });

  it.each([
    ["http://mcp.example.com/mcp", "not https"],
    ["https://localhost/mcp", "not a public address"],
    ["https://127.0.0.1/mcp", "not a public address"],
    ["https://10.1.2.3/mcp", "not a public address"],
    ["https://[::1]/mcp", "not a public address"],
    ["https://[::ffff:192.168.0.1]/mcp", "not a public address"],
    ["https://wiki.internal/mcp", "not a public address"],
    ["https://localhost./mcp", "not a public address"],
    ["https://[64:ff9b::7f00:1]/mcp", "not a public address"],
    ["https://printer.localdomain/mcp", "not a public address"],
    ["https://mcp.example.com/mcp?api_key=secret", "looks like a credential"],
    ["https://me:secret@mcp.example.com/", "has a password"],
    ["https://${HOST}/mcp", "filled in here"],
  ])("is refused at %s, which the provider cannot or must not reach", async (written, why) => {
    await using hub = await openHub({ it: { url } }, { env: {} });
    const failed = openAiHostedServer(hub, "it", { url: written });
    await expect(failed).rejects.toMatchObject({
      code: "usage-invalid",
      message: expect.stringContaining(why),
    });
    await expect(failed).rejects.not.toThrow("secret");
  });

  it("is refused at a configured URL with a query, unless it is passed", async () => {
    await using fake = await openFake({});
    await using hub = await openHub({ it: { url: `${url}?tenant=1` }, near: { url: fake.url } }, { env: {} });
    await expect(openAiHostedServer(hub, "it")).rejects.toThrow("has a query");
    const passed = await openAiHostedServer(hub, "near", { url: `${url}?tenant=1` });
    expect(passed.server_url).toBe(`${url}?tenant=1`);
  });

  it("is refused where it is a program or untrusted", async () => {
    const servers = {
      program: { command: "nothing" },
      stranger: { url, untrusted: true, tools: { allow: ["echo"] } },
    };
    await using hub = await openHub(servers, { env: {} });
    await expect(openAiHostedServer(hub, "program")).rejects.toThrow("not a remote server");
    await expect(openAiHostedServer(hub, "stranger")).rejects.toThrow("untrusted");
  });
});
