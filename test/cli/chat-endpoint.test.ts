import { describe, expect, it } from "vitest";
import { endpointOf } from "../../src/cli/chat/endpoint.ts";

const local = "http://127.0.0.1:11434/v1";

describe("M66 the model that chat talks to", () => {
  it.each([
    [{ model: "gpt-5" }, {}, {}, { provider: "openai", url: "https://api.openai.com/v1" }],
    [{ model: "claude-x" }, {}, {}, { provider: "anthropic", url: "https://api.anthropic.com/v1" }],
    [{ model: "m", url: `${local}/` }, {}, {}, { provider: "openai", url: local }],
    [{ model: "m", url: "https://api.anthropic.com" }, {}, {}, { url: "https://api.anthropic.com/v1" }],
    [{}, { model: "m", url: local }, {}, { model: "m", url: local }],
    [{}, { model: "m" }, { PLUGBOARD_CHAT_MODEL: "n" }, { model: "n" }],
    [{ model: "o" }, { model: "m" }, { PLUGBOARD_CHAT_MODEL: "n" }, { model: "o" }],
    [{ model: "m" }, {}, { OPENAI_BASE_URL: local }, { url: local }],
    [{ model: "claude-x" }, {}, { ANTHROPIC_BASE_URL: "https://a.example" }, { url: "https://a.example/v1" }],
    [
      { model: "m", provider: "anthropic" as const },
      { url: local },
      {},
      { url: "https://api.anthropic.com/v1" },
    ],
  ])("%j with %j and %j", (flags, config, env, expected) => {
    expect(endpointOf(flags, config, env)).toMatchObject(expected);
  });

  it("gets only a key that was set for its address", () => {
    const config = { model: "m", url: "https://models.example/v1", key: "${secret:K}" };
    expect(endpointOf({}, config, {}).keyFrom).toBe("config");
    expect(endpointOf({ url: "https://models.example/v2" }, config, {}).keyFrom).toBe("config");
    const elsewhere = endpointOf({ url: local }, config, { OPENAI_API_KEY: "k" });
    expect(elsewhere).not.toHaveProperty("key");
    expect(elsewhere).not.toHaveProperty("keyFrom");
    expect(elsewhere.keyNote).toContain("chat.key belongs to models.example");
    expect(endpointOf({ url: local }, config, { PLUGBOARD_CHAT_KEY: "k" }).key).toBe("k");
    expect(endpointOf({ model: "m" }, {}, { OPENAI_API_KEY: "k" }).key).toBe("k");
    expect(endpointOf({ model: "m" }, {}, { OPENAI_API_KEY: "k", OPENAI_BASE_URL: local })).toMatchObject({
      key: "k",
      url: local,
    });
    // A key in the configuration without an address belongs to the provider's own, whatever the environment says.
    const homely = endpointOf({}, { model: "m", key: "k" }, { OPENAI_BASE_URL: "https://evil.example/v1" });
    expect(homely).toMatchObject({ url: "https://api.openai.com/v1", keyFrom: "config" });
  });

  it.each([
    "ftp://a.example",
    "nonsense",
    "https://me:secret@a.example/v1",
    "https://a.example/v1?key=secret",
  ])("is refused at %s, without repeating it", (url) => {
    const choose = () => endpointOf({ model: "m", url }, {}, {});
    expect(choose).toThrow(expect.objectContaining({ code: "usage-invalid" }));
    expect(choose).not.toThrow(/secret/);
  });
});
