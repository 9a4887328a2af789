import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config.ts";

describe("M80 the gateway's settings", () => {
  it("accept what the reference describes", async () => {
    const gateway = {
      host: "127.0.0.1",
      port: 0,
      auth: "none",
      names: { style: "plain", maxLength: 64 },
      headers: { issues: { "X-Issues-Token": "Authorization", "X-Team": "X-Team" } },
      allowedHosts: ["plugboard.internal:7420"],
      allowedOrigins: ["https://inspector.example"],
    };
    const { settings, diagnostics } = await parseConfig({ gateway });
    expect(diagnostics).toEqual([]);
    expect(settings.gateway).toEqual(gateway);
  });

  it.each([
    [{ auth: "tokn" }, "gateway.auth", "expected `token` or `none`", "did you mean `token`?"],
    [{ port: 70_000 }, "gateway.port", "must be at most 65535", "for example 7420"],
    [
      { names: { style: "short" } },
      "gateway.names.style",
      "expected `server` or `mcp` or `plain`",
      undefined,
    ],
    [{ names: { maxLength: 8 } }, "gateway.names.maxLength", "must be at least 24", "for example 48"],
    [{ names: { lenght: 48 } }, "gateway.names.lenght", "unknown field `lenght`", undefined],
    [
      { headers: { issues: "X-A" } },
      "gateway.headers.issues",
      "expected an object, found a string",
      undefined,
    ],
    [
      { headers: { issues: { "X-A": "Authorization: Bearer" } } },
      "gateway.headers.issues.X-A",
      "expected the name of a header",
      undefined,
    ],
    [
      { headers: { issues: { "X-A": "Mcp-Session-Id" } } },
      "gateway.headers.issues.X-A",
      "this header is set by Plugboard itself",
      undefined,
    ],
    [{ allowedHosts: "a" }, "gateway.allowedHosts", "expected a list, found a string", undefined],
    [{ adress: "::1" }, "gateway.adress", "unknown field `adress`", undefined],
  ])("explain the mistake in %j", async (gateway, path, message, suggestion) => {
    const { settings, diagnostics } = await parseConfig({ gateway });
    expect(diagnostics).toMatchObject([{ severity: "error", path, message }]);
    if (suggestion !== undefined) expect(diagnostics[0]?.suggestion).toBe(suggestion);
    // With a mistake in it, the whole key is set aside: half of the settings could be less safe.
    expect(settings.gateway).toBeUndefined();
  });

  it("never pass on the gateway's own token", async () => {
    const { diagnostics } = await parseConfig({
      gateway: { headers: { issues: { authorization: "Authorization" } } },
    });
    expect(JSON.stringify(diagnostics)).toContain("carries the gateway's own token");
  });
});
