import { describe, expect, it } from "vitest";
import { Workspace, literalSecrets, secretOwner } from "../../src/config.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const url = "https://issues.example/mcp";
const shared = "project/.mcp.json";

const secretValue = async (box: Sandbox, name: string) => {
  await using workspace = await Workspace.open(box.options);
  return await workspace.secrets(name);
};

describe("M10 a secret in plain text in a shared file", () => {
  const warning = "in plain text in";
  const fix = "plugboard secret move issues";

  it("is warned about by add, add-json and import, without being shown", async () => {
    const entry = { type: "http", url, headers: { Authorization: "Bearer hush-hush" } };
    const runs: [string, string[]][] = [
      ["add", ["add", "-s", "project", "-H", "Authorization: Bearer hush-hush", "--", "issues", url]],
      ["add-json", ["add-json", "-s", "project", "issues", JSON.stringify(entry)]],
      ["import", ["import", "claude-code", "--from", "theirs.json", "--scope", "project", "--yes"]],
    ];
    for (const [verb, args] of runs) {
      const box = createSandbox({ "project/theirs.json": { mcpServers: { issues: entry } } });
      const { code, out, err } = await box.cli(args);
      expect([verb, code]).toEqual([verb, 0]);
      expect(err).toContain(`headers.Authorization of issues is ${warning} ${box.path(shared)}`);
      expect(err).toContain(fix);
      expect(out + err).not.toContain("hush-hush");
    }
  });

  it("is in the JSON output of add", async () => {
    const box = createSandbox();
    const args = ["add", "-s", "project", "-e", "API_KEY=hush-hush", "--json", "issues", "--", "true"];
    expect((await box.cli(args)).json).toMatchObject({ plainSecrets: ["env.API_KEY"] });
  });

  it("is reported where somebody wrote it by hand", async () => {
    const box = createSandbox({
      [shared]: { mcpServers: { issues: { url, oauth: { clientId: "a", clientSecret: "hush-hush" } } } },
    });
    for (const args of [["doctor"], ["config", "validate"]]) {
      const { out, err } = await box.cli(args);
      expect(out + err).toContain("oauth.clientSecret");
      expect(out + err).toContain(fix);
      expect(out + err).not.toContain("hush-hush");
    }
  });

  it("is not what a reference, a private file or a harmless value is", async () => {
    const box = createSandbox();
    for (const args of [
      ["add", "-s", "project", "-H", "Authorization: Bearer ${secret:A}", "--", "one", url],
      ["add", "-s", "project", "-e", "LEVEL=7", "two", "--", "true"],
      ["add", "-s", "user", "-H", "Authorization: Bearer hush-hush", "--", "three", url],
      ["add", "-H", "Authorization: Bearer hush-hush", "--", "four", url],
    ])
      expect((await box.cli(args)).err).not.toContain("plain text");
  });

  it("costs no more than its length, and harms no other server", async () => {
    const words = ["a=".repeat(200_000), "?".repeat(200_000), `${"-".repeat(9)}=`.repeat(20_000)];
    const box = createSandbox({
      [shared]: {
        mcpServers: { bad: { command: "true", args: words }, url: { url: `${url}${words[1]}` } },
      },
      [user]: { mcpServers: { good: { command: "true" } } },
    });
    const { json } = await box.cli(["list", "--json"]);
    expect(JSON.stringify(json)).toContain('"good"');
  });
});

describe("M10 plugboard secret move", () => {
  it("stores every secret of the entry and writes references, with comments kept", async () => {
    const box = createSandbox();
    box.write(
      user,
      `{
  // Ours.
  "mcpServers": {
    "svc.one": {
      "url": "https://a.example/mcp?api_key=hush-url&page=1", // the address
      "headers": { "Authorization": "Bearer hush-header", "X-Page": "2" },
      "oauth": { "clientId": "mine", "clientSecret": "hush-client" },
    },
    "prog": { "command": "true", "args": ["--token", "hush-1", "--password=hush-2"], "env": { "API_KEY": "hush-env" } },
  },
}
`,
    );
    const owner = secretOwner("svc.one");
    const moved = await box.cli(["secret", "move", "svc.one", "--json"]);
    expect(moved.json).toMatchObject({
      moved: [
        { field: "headers.Authorization", secret: `${owner}_TOKEN` },
        { field: "oauth.clientSecret", secret: `${owner}_CLIENT_SECRET` },
        { field: "url", secret: `${owner}_API_KEY` },
      ],
    });
    expect((await box.cli(["secret", "move", "prog"])).out).toContain("Moved args[0]".replace("0", "1"));
    const text = box.read(user);
    expect(text).not.toContain("hush");
    for (const kept of ["// Ours.", "// the address", '"X-Page": "2"', "&page=1", "--password=${secret:"])
      expect(text).toContain(kept);
    expect(text).toContain(`"Bearer \${secret:${owner}_TOKEN}"`);
    expect(text).toContain(`?api_key=\${secret:${owner}_API_KEY}&page=1`);
    expect(await secretValue(box, `${owner}_TOKEN`)).toBe("hush-header");
    expect(await secretValue(box, `${owner}_API_KEY`)).toBe("hush-url");
    expect(await secretValue(box, "PROG_TOKEN")).toBe("hush-1");
    expect(await secretValue(box, "PROG_PASSWORD")).toBe("hush-2");
    expect(await secretValue(box, "API_KEY")).toBe("hush-env");
    expect((await box.cli(["secret", "move", "prog"])).code).not.toBe(0);
  });

  it("stores the default of a variable, and leaves the variable", async () => {
    const box = createSandbox();
    box.write(user, { mcpServers: { it: { command: "true", env: { API_KEY: "${KEY:-hush-1}" } } } });
    expect((await box.cli(["secret", "move", "it"])).code).toBe(0);
    expect(box.read(user)).toContain("${KEY:-${secret:API_KEY}}");
    expect(await secretValue(box, "API_KEY")).toBe("hush-1");
  });

  it("never takes the name of another server's secret", async () => {
    const box = createSandbox({
      [user]: {
        mcpServers: {
          one: { command: "true", env: { API_KEY: "hush-one" } },
          two: { command: "true", env: { API_KEY: "hush-two" } },
        },
      },
    });
    for (const name of ["one", "two"]) await box.cli(["secret", "move", name]);
    expect(box.read(user)).toContain("${secret:API_KEY_2}");
    expect(await secretValue(box, "API_KEY")).toBe("hush-one");
    expect(await secretValue(box, "API_KEY_2")).toBe("hush-two");
  });

  it("keeps a trusted entry trusted, and says that the old value is known to others", async () => {
    const box = createSandbox();
    await box.cli(["add", "-s", "project", "-e", "API_KEY=hush-hush", "it", "--", "true"]);
    const { code, err } = await box.cli(["secret", "move", "it"]);
    expect([code, err]).toEqual([0, expect.stringContaining("Replace it where it was issued")]);
    expect((await box.cli(["list", "--json"])).json).toMatchObject({ servers: [{ name: "it" }] });
    expect((await box.cli(["trust", "--list"])).out).toContain("Nothing here needs your trust.");
    expect(box.read(shared)).not.toContain("hush-hush");
  });
});

describe("M72 the names of kept secrets", () => {
  it("differ for servers whose names differ", () => {
    const names = ["svc-one", "svc.one", "svc_one", "svc--one", "svcone", "my notes", "-svc-one", "svc-one-"];
    const owners = names.map(secretOwner);
    expect(new Set(owners).size).toBe(names.length);
    expect(owners.slice(0, 1)).toEqual(["SVC_ONE"]);
    for (const owner of owners) expect(owner).toMatch(/^[A-Z0-9_]+$/);
  });

  it("differ for two secrets of one entry", () => {
    const found = literalSecrets("it", { args: ["--token", "hush-1", "--token", "hush-2"] });
    expect(found.map(({ name }) => name)).toEqual(["IT_TOKEN", "IT_TOKEN_2"]);
  });

  it("differ for client secrets of svc.one and svc-one, and of one name in two scopes", async () => {
    const box = createSandbox();
    const addWith = async (secret: string, ...args: string[]) => {
      box.env["MCP_CLIENT_SECRET"] = secret;
      const { json } = await box.cli([
        "add",
        ...args,
        url,
        "--client-id",
        "mine",
        "--client-secret",
        "--json",
      ]);
      return json["server"];
    };
    await addWith("hush-1", "svc.one");
    await addWith("hush-2", "svc-one");
    await addWith("hush-3", "-s", "user", "svc-one");
    await addWith("hush-4", "--force", "svc-one");
    const kept = (await box.cli(["secret", "list", "--json"])).json["secrets"] as { name: string }[];
    const values = await Promise.all(kept.map(({ name }) => secretValue(box, name)));
    expect(new Set(values)).toEqual(new Set(["hush-1", "hush-3", "hush-4"]));
  });
});
