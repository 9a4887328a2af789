import { DiagLogLevel, diag, propagation } from "@opentelemetry/api";
import { SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import { describe, expect, it } from "vitest";
import { openTelemetry } from "../../src/telemetry/index.ts";
import { openScene } from "../gateway/bridge/scene.ts";
import { runNode } from "../run-command.ts";
import { openRecorder } from "./recorder.ts";

const away = { forceFlush: async () => undefined, shutdown: async () => undefined };

describe("M65 what is wrong with telemetry disturbs no call", () => {
  it.each([
    [
      "an exporter that is away",
      new SimpleSpanProcessor({
        exporter: { ...away, export: (_, done) => done({ code: 1, error: new Error("no route") }) },
      }),
    ],
    [
      "an exporter that throws",
      new SimpleSpanProcessor({
        exporter: {
          ...away,
          export: () => {
            throw new Error("broken");
          },
        },
      }),
    ],
    [
      "a processor that throws",
      {
        ...away,
        onStart: () => {
          throw new Error("broken");
        },
        onEnd: () => {
          throw new Error("broken");
        },
      },
    ],
  ])("%s", async (_, processor) => {
    await using _recorder = openRecorder([processor]);
    // What a program does with the SDK's complaints is its own choice.
    const quiet = () => undefined;
    diag.setLogger(
      { error: quiet, warn: quiet, info: quiet, debug: quiet, verbose: quiet },
      DiagLogLevel.ALL,
    );
    const telemetry = await openTelemetry({ arguments: true, results: true });
    const scene = await openScene(["legacy-stdio"], { hub: { telemetry }, gateway: { telemetry } });
    try {
      const client = await scene.client("modern-http");
      const { content } = await client.result(client.call("legacy-stdio__echo", { text: "hi" }));
      expect(JSON.stringify(content)).toContain("hi");
    } finally {
      await scene.close();
      diag.disable();
    }
  });

  it("a propagator of the program's own is used, and one that throws is ignored", async () => {
    await using _recorder = openRecorder();
    let isBroken = false;
    propagation.setGlobalPropagator({
      fields: () => ["x-own", "baggage"],
      inject(_context, carrier, setter) {
        if (isBroken) throw new Error("broken");
        setter.set(carrier, "x-own", "1");
        setter.set(carrier, "baggage", `a=${"b".repeat(10_000)}`);
      },
      extract(context) {
        if (isBroken) throw new Error("broken");
        return context;
      },
    });
    const telemetry = await openTelemetry();
    const scene = await openScene(["legacy-stdio"], { hub: { telemetry }, gateway: { telemetry } });
    try {
      const client = await scene.client("legacy-http");
      await client.result(client.call("legacy-stdio__echo"));
      isBroken = true;
      await client.result(client.call("legacy-stdio__echo"));
      const calls = scene.upstream("legacy-stdio").heard();
      const metas = calls
        .filter(({ message }) => message.method === "tools/call")
        .map(({ message }) => message.params?.["_meta"]);
      const progressToken = expect.any(String) as string;
      expect(metas).toEqual([{ "x-own": "1", progressToken }, { progressToken }]);
    } finally {
      await scene.close();
      propagation.disable();
    }
  });
});

describe("M65 telemetry that is off is not loaded", () => {
  const collect = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ resolve(specifier, context, next) {
      if (specifier.includes("opentelemetry")) loaded.push(specifier);
      return next(specifier, context);
    } });
  `;
  const use = `
    const { createHub } = await import("./src/index.ts");
    const { createGateway } = await import("./src/gateway/index.ts");
    const { fakeStdio } = await import("./test/fixtures/fake/index.ts");
    const hub = await createHub({ servers: { one: fakeStdio() } });
    const gateway = createGateway(hub, { auth: "none" });
    await gateway.listen();
    await hub.callTool("one.echo");
    await gateway.close();
    await hub.close();
  `;
  const print = `console.log(JSON.stringify(loaded));`;
  const loads = async (...parts: string[]) => {
    const { out, err } = await runNode(["--input-type=module", "-e", parts.join("\n")], {
      env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
    });
    expect(err).toBe("");
    return JSON.parse(out) as string[];
  };

  it("by a hub with a gateway that are used", async () => {
    expect(await loads(collect, use, print)).toEqual([]);
  });

  it("and is by `openTelemetry`, not by importing it", async () => {
    const open = `const { openTelemetry } = await import("./src/telemetry/index.ts");`;
    expect(await loads(collect, open, print)).toEqual([]);
    expect(await loads(collect, open, "await openTelemetry();", print)).toContain("@opentelemetry/api");
  });

  it("and fails with a hint if the API is not installed or another version", async () => {
    const without = (source: string) => `
      import { registerHooks } from "node:module";
      registerHooks({
        resolve: (specifier, context, next) =>
          specifier === "@opentelemetry/api" ? { url: ${source}, shortCircuit: true } : next(specifier, context),
      });
      const { openTelemetry } = await import("./src/telemetry/index.ts");
      const error = await openTelemetry().catch((one) => one);
      console.log(JSON.stringify([error.code, error.message, error.hint]));
    `;
    const hint = expect.stringContaining("npm install @opentelemetry/api@1") as string;
    expect(await loads(without('"file:///nonexistent.mjs"'))).toEqual([
      "telemetry-unavailable",
      "Telemetry needs @opentelemetry/api 1, which is not installed.",
      hint,
    ]);
    expect(await loads(without('"data:text/javascript,export const trace = {};"'))).toEqual([
      "telemetry-unavailable",
      "Telemetry needs @opentelemetry/api 1, but another version is installed.",
      hint,
    ]);
  });
});
