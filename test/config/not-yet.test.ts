import { describe, expect, it } from "vitest";
import { createSandbox } from "../sandbox.ts";

describe("a setting that does nothing yet", () => {
  const settings: [string, object, string, string][] = [
    ["gateway.keys", { gateway: { keys: { ada: "…" } } }, "keys of single callers", "serve --bundle"],
    ["gateway.audit", { gateway: { audit: true } }, "an audit trail", "OpenTelemetry"],
    ["store", { store: "redis://127.0.0.1:6379" }, "a store on Redis", "memory"],
    ["store", { store: "postgres://127.0.0.1/plugboard" }, "a store on Redis or another server", "memory"],
  ];
  it.each(settings)(
    "is refused where it is written, with what works instead: %s %j",
    async (path, config, what, instead) => {
      const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: {}, ...config } });
      const { code, out } = await box.cli(["config", "validate", "--json"]);
      expect(code).toBe(3);
      const { diagnostics } = JSON.parse(out) as { diagnostics: Record<string, unknown>[] };
      expect(diagnostics).toEqual([
        expect.objectContaining({
          severity: "error",
          path,
          message: expect.stringContaining(what) as string,
          suggestion: expect.stringContaining(instead) as string,
          file: expect.stringMatching(/config\.json$/) as string,
          line: expect.any(Number) as number,
        }),
      ]);
      expect(String(diagnostics[0]?.["message"])).toContain("not supported yet");
    },
  );

  it("keeps `serve` and `call` from going on without it", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { store: "redis://127.0.0.1:6379", gateway: { keys: {} } },
    });
    const calling = await box.cli(["call", "it.tool"]);
    expect([calling.code, calling.err]).toEqual([3, expect.stringContaining("a store on Redis")]);
    const serving = await box.cli(["serve", "--port", "0"]);
    expect([serving.code, serving.err]).toEqual([3, expect.stringContaining("not supported yet")]);
  });

  it.each(["${REDIS_URL}", " redis://127.0.0.1"])("takes a store of %j for no file", async (store) => {
    const box = createSandbox({ "home/.config/plugboard/config.json": { store } });
    box.env["REDIS_URL"] = "redis://127.0.0.1:6379";
    const { code, err } = await box.cli(["call", "it.tool"]);
    expect([code, err]).toEqual([3, expect.stringMatching(/not supported yet|are not filled in here/)]);
  });

  it.each([
    ["keys", ["serve", "--port", "0"]],
    ["audit", ["serve", "--port", "0"]],
    ["keys", ["serve", "--stdio"]],
  ])("keeps a gateway with %s from being served by %j", async (name, words) => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": {
        mcpServers: { it: { command: "true" } },
        gateway: { [name]: {} },
      },
    });
    const { code, err } = await box.cli(words);
    expect([code, err]).toEqual([3, expect.stringContaining("not supported yet")]);
  });
});
