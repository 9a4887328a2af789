import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const program = readFileSync(join(import.meta.dirname, "../fixtures/programs/changing.mjs"), "utf8");

/** A registry with one package in some versions. */
async function startRegistry(box: Sandbox, name: string, versions: string[]) {
  const packed = versions.map((version) => {
    const folder = `packages/${version}`;
    box.write(`${folder}/package.json`, { name, version, type: "module", bin: { notes: "main.mjs" } });
    box.write(`${folder}/main.mjs`, `#!/usr/bin/env node\n${program}`);
    const [{ filename }] = JSON.parse(
      execFileSync("npm", ["pack", "--json"], { cwd: box.path(folder), env: { ...box.env } }).toString(),
    ) as [{ filename: string }];
    const bytes = readFileSync(join(box.path(folder), filename.replace(/^@/, "").replace("/", "-")));
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    return { version, bytes, integrity };
  });
  const published = { newest: versions[0] ?? "" };
  const server = createServer((request, response) => {
    const [, tarball] = /\/tarball\/(.+)$/.exec(request.url ?? "") ?? [];
    if (tarball !== undefined) {
      response.end(packed.find(({ version }) => version === tarball)?.bytes);
      return;
    }
    const { port } = server.address() as AddressInfo;
    const manifests = packed.map(({ version, integrity }) => [
      version,
      {
        name,
        version,
        bin: { notes: "main.mjs" },
        dist: { tarball: `http://127.0.0.1:${port}/tarball/${version}`, integrity },
      },
    ]);
    response.setHeader("Content-Type", "application/json");
    response.end(
      JSON.stringify({
        name,
        "dist-tags": { latest: published.newest },
        versions: Object.fromEntries(manifests),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, packed, publish: (version: string) => (published.newest = version) };
}

describe("M52 the package behind npx", () => {
  it("is pinned with its exact version and integrity, and verify notices another one", async () => {
    const box = createSandbox();
    const registry = await startRegistry(box, "@acme/notes", ["1.0.0", "1.1.0"]);
    const offer = box.write("offer.json", { tools: [{ name: "read", inputSchema: { type: "object" } }] });
    const env = { npm_config_registry: registry.url, npm_config_cache: box.path("cache") };
    box.write(user, { mcpServers: { notes: { command: "npx", args: ["-y", "@acme/notes", offer], env } } });
    const locked = await box.cli(["lock", "--yes", "--json"]);
    const first = registry.packed[0];
    expect(locked.json).toMatchObject({
      servers: [
        { package: { manager: "npm", name: "@acme/notes", version: "1.0.0", integrity: first?.integrity } },
      ],
    });
    expect(await box.cli(["verify"])).toMatchObject({ code: 0 });
    registry.publish("1.1.0");
    const { code, out } = await box.cli(["verify"]);
    expect(code).toBe(7);
    expect(out).toContain("package  changed");
    expect(out).toMatch(/version\n +- 1\.0\.0\n +\+ 1\.1\.0/);
  });

  it("is unknown where nothing certain can be said, and that is written down", async () => {
    const offer = { tools: [] };
    const box = createSandbox();
    const file = box.write("offer.json", offer);
    const script = join(import.meta.dirname, "../fixtures/programs/changing.mjs");
    const launcher = `#!/bin/sh\nexec ${process.execPath} ${script} ${file}\n`;
    for (const name of ["npx", "uvx"]) execFileSync("chmod", ["+x", box.write(`bin/${name}`, launcher)]);
    const entry = (name: string, ...args: string[]) => ({ command: box.path(`bin/${name}`), args });
    box.write(
      "home/.local/share/uv/tools/tool-b/lib/python3.12/site-packages/tool_b-2.5.0.dist-info/RECORD",
      "",
    );
    box.write("home/project/node_modules/local/package.json", { name: "local", version: "3.0.0" });
    box.write(user, {
      mcpServers: {
        exact: entry("npx", "-y", "other@1.2.3"),
        newest: entry("npx", "other"),
        git: entry("npx", "git+ssh://example/x"),
        option: entry("npx", "--weird", "other"),
        variable: entry("npx", "${PACKAGE:-other}"),
        several: entry("npx", "-p", "one", "-p", "two", "run"),
        uvExact: entry("uvx", "--from", "tool-a[cli]==2.0.1", "serve"),
        uvTool: entry("uvx", "tool_b"),
        uvNewest: entry("uvx", "tool-c@latest"),
        plain: { command: process.execPath, args: [script, file] },
      },
    });
    const { json } = await box.cli(["lock", "--yes", "--json"]);
    const packages = Object.fromEntries(
      (json["servers"] as { server: string; package?: object }[]).map((one) => [one.server, one.package]),
    );
    const unknown = { version: "unknown", integrity: "unknown", note: expect.any(String) };
    expect(packages).toMatchObject({
      exact: { manager: "npm", name: "other", version: "1.2.3", integrity: "unknown" },
      newest: { name: "other", ...unknown },
      git: unknown,
      option: { ...unknown, note: "the option --weird is not understood" },
      variable: { ...unknown, note: "its command line contains variables" },
      several: { ...unknown, name: "one two" },
      uvExact: { manager: "pypi", name: "tool-a", version: "2.0.1", integrity: "unknown" },
      uvTool: { manager: "pypi", name: "tool_b", version: "2.5.0" },
      uvNewest: { name: "tool-c", ...unknown },
    });
    expect(packages["plain"]).toBeUndefined();
    expect(box.read("home/.config/plugboard/plugboard.lock")).toContain(
      '"note": "npm\'s cache does not have it"',
    );
    expect(await box.cli(["verify"])).toMatchObject({ code: 0 });
  });
});
