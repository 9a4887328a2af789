import { describe, expect, it } from "vitest";
import { parseConfig, shownBundle, shownEntry, shownSettings } from "../../../src/config.ts";

describe("an entry that is shown", () => {
  it("keeps what says which program or server it is, and hides every value that may be a secret", () => {
    const written = {
      type: "streamable-http",
      command: "docker",
      args: ["run", "-e", "TOKEN=abc", "mcp/github"],
      env: { LOG_LEVEL: "abc", API_KEY: "${secret:KEY}", BOTH: "abc${X:-abc}" },
      headers: { Authorization: "Bearer ${secret:TOKEN}", "X-Other": "abc" },
      headersHelper: ["./get-headers", "--token=abc"],
      oauth: {
        clientId: "plugboard-dev",
        clientSecret: "abc",
        privateKey: "abc",
        assertion: "${file:/run/token}",
        identityProvider: { issuer: "https://ada:abc@idp.example/", clientId: "us", clientSecret: "abc" },
        scopes: "read write",
      },
      timeout: 5000,
      disabled: true,
      "x-note": "abc",
      approval: { default: "auto", tools: { delete: "deny" } },
      tools: { allow: ["read_*"], annotations: { "get_*": { title: "Get", nested: { deep: "abc" } } } },
      alwaysLoad: ["read_file"],
      callTimeoutMs: "abc",
    };
    expect(shownEntry({ written })).toEqual({
      type: "streamable-http",
      command: "docker",
      args: ["run", "-e", "TOKEN=(hidden)", "mcp/github"],
      env: { LOG_LEVEL: "(hidden)", API_KEY: "${secret:KEY}", BOTH: "(hidden)${X:-(hidden)}" },
      headers: { Authorization: "Bearer ${secret:TOKEN}", "X-Other": "(hidden)" },
      headersHelper: ["./get-headers", "--token=(hidden)"],
      oauth: {
        clientId: "plugboard-dev",
        clientSecret: "(hidden)",
        privateKey: "(hidden)",
        assertion: "${file:/run/token}",
        identityProvider: {
          issuer: "https://(hidden)@idp.example/",
          clientId: "us",
          clientSecret: "(hidden)",
        },
        scopes: "read write",
      },
      timeout: 5000,
      disabled: true,
      "x-note": "(hidden)",
      approval: { default: "auto", tools: { delete: "deny" } },
      tools: {
        allow: ["read_*"],
        annotations: { "get_*": { title: "Get", nested: "(hidden)" } },
      },
      alwaysLoad: ["read_file"],
      callTimeoutMs: "(hidden)",
    });
  });

  it.each(["abc", ["abc"], 7, null])("hides %j, which is no entry", (written) => {
    expect(shownEntry({ written })).toBe("(hidden)");
  });

  it("does not look into what the schema does not describe", () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const written = { command: "x", "x-deep": JSON.parse(deep) as unknown };
    expect(shownEntry({ written })).toEqual({ command: "x", "x-deep": "(hidden)" });
  });
});

describe("settings and bundles that are shown", () => {
  it("hide keys of models", async () => {
    const { settings } = await parseConfig({
      gateway: { host: "127.0.0.1", port: 7420, headers: { web: { "X-A": "X-B" } } },
      chat: { model: "gpt-5", key: "abc", url: "https://ada:abc@models.example/v1" },
      store: "~/.local/share/plugboard.sqlite",
      profiles: { issues: "work" },
      plugins: ["./plugins/search"],
    });
    expect(shownSettings(settings)).toEqual({
      gateway: { host: "127.0.0.1", port: 7420, headers: { web: { "X-A": "X-B" } } },
      chat: { model: "gpt-5", key: "(hidden)", url: "https://(hidden)@models.example/v1" },
      store: "~/.local/share/plugboard.sqlite",
      profiles: { issues: "work" },
      plugins: ["./plugins/search"],
    });
    const bundle = { servers: ["files"], tools: { allow: ["read_*"] }, description: "Notes", mode: "meta" };
    expect(shownBundle(bundle)).toEqual(bundle);
  });
});
