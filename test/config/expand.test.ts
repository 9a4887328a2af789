import { describe, expect, it } from "vitest";
import { expandServer } from "../../src/config.ts";
import { loadConfig } from "../../src/index.ts";
import { parseTemplate } from "../../src/config/template.ts";
import { createSandbox } from "../sandbox.ts";

async function expand(server: object, env: Record<string, string> = {}, files: Record<string, string> = {}) {
  const box = createSandbox({
    "home/.config/plugboard/config.json": { mcpServers: { it: server } },
    ...files,
  });
  const entry = (await loadConfig({ ...box.options, env: { ...box.env, ...env } })).servers.get("it")!;
  const secrets = async (name: string) => ({ TOKEN: "s3cret-value" })[name] ?? env[name];
  return expandServer(entry, { env: { ...box.env, ...env }, secrets, home: box.home });
}

describe("M03 expansion", () => {
  it("fills variables and defaults in command, args, env, url, headers and cwd", async () => {
    const { config } = await expand(
      {
        command: "${BIN}",
        args: ["--to=${A}-${B:-two}", "${C:-${A}}"],
        env: { K: "${A}" },
        cwd: "${DIR:-sub}",
      },
      { BIN: "/bin/x", A: "one", C: "" },
    );
    expect(config).toMatchObject({ command: "/bin/x", args: ["--to=one-two", "one"], env: { K: "one" } });
    expect(config.cwd).toMatch(/plugboard\/sub$/);
    const remote = await expand(
      { url: "https://${HOST}/mcp", headers: { X: "a ${T}" } },
      { HOST: "h.example", T: "t" },
    );
    expect(remote.config).toMatchObject({ url: "https://h.example/mcp", headers: { X: "a t" } });
  });

  it("finds the files of `network` where the configuration is", async () => {
    const network = { proxy: "none", ca: "./${NAME}.pem", cert: "~/client.pem", key: "/etc/client.key" };
    const { config } = await expand({ url: "https://h.example", network }, { NAME: "ca" });
    expect(config.network).toEqual({
      proxy: "none",
      ca: expect.stringMatching(/^\/.*\/home\/\.config\/plugboard\/ca\.pem$/),
      cert: expect.stringMatching(/^\/.*\/home\/client\.pem$/),
      key: "/etc/client.key",
    });
  });

  it("asks the secret source, reads files and runs commands without a shell", async () => {
    const { config, sensitive } = await expand(
      { command: "x", args: ["${secret:TOKEN}", "${file:key.txt}", "${cmd:printf '%s %s' \"a b\" $HOME}"] },
      {},
      { "home/.config/plugboard/key.txt": "from file\n" },
    );
    expect(config.args).toEqual(["s3cret-value", "from file", "a b $HOME"]);
    expect(sensitive).toContain("s3cret-value");
  });

  it("does not expand $${ and text that is not a reference", async () => {
    const { config } = await expand({
      command: "x",
      args: ["$${HOME}", "${}", "${not a name}", "$HOME", "${open"],
    });
    expect(config.args).toEqual(["${HOME}", "${}", "${not a name}", "$HOME", "${open"]);
  });

  it("names the missing reference, the field and the file, and shows no other value", async () => {
    const failure = expand(
      { command: "x", env: { A: "${secret:NOPE}", B: "${PRESENT}" } },
      { PRESENT: "visible-canary" },
    );
    await expect(failure).rejects.toMatchObject({
      code: "value-missing",
      message: expect.stringContaining("${secret:NOPE} in env.A"),
    });
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining("config.json:3") });
    await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining("visible-canary") });
  });

  it.each([
    ["${cmd:no-such-program-here}", "was not found"],
    ["${cmd:false}", "failed (exit 1)"],
  ])("explains why %s gave nothing", async (arg, why) => {
    await expect(expand({ command: "x", args: [arg] })).rejects.toMatchObject({
      message: expect.stringContaining(why),
    });
  });

  it("does not expand references inside an expanded value", async () => {
    const { config } = await expand({ command: "x", args: ["${A}"] }, { A: "${HOME} ${cmd:id}" });
    expect(config.args).toEqual(["${HOME} ${cmd:id}"]);
  });

  it("parses nested defaults", () => {
    expect(parseTemplate("a${X:-b${Y}c}d")).toEqual([
      "a",
      { kind: "env", name: "X", fallback: "b${Y}c" },
      "d",
    ]);
  });
});
