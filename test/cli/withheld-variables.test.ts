import { describe, expect, it } from "vitest";
import { knownNeed } from "../../src/auth/known-needs.ts";
import { cannotRegister } from "../../src/auth/oauth/client.ts";
import { withheldVariables } from "../../src/lib/withheld-variables.ts";
import { createSandbox } from "../sandbox.ts";
import { programPath } from "../servers/stdio-fixture.ts";

const node = process.execPath;
const program = programPath("wants-key.mjs");
const passOn = /NOTES_API_KEY is set here, but not passed on .*`--inherit-env NOTES_API_KEY`/;

function scene(servers: object = { notes: { command: node, args: [program] } }, value = "k-canary-1") {
  const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: servers } });
  if (value !== "") box.env["NOTES_API_KEY"] = value;
  return box;
}

const flat = (text: string) => text.replaceAll(/\s+/g, " ");

describe("M23 a server that asks for a variable that is set here, but not passed on to it", () => {
  it("fails with the option that passes it on, and never with its value", async () => {
    const box = scene();
    const { code, err } = await box.cli(["tools", "notes"]);
    expect(code).not.toBe(0);
    expect(flat(err)).toMatch(passOn);
    expect(err).not.toContain("canary");
    expect(flat((await box.cli(["doctor", "--connect"])).out)).toMatch(passOn);
  });

  it("is explained by `explain` and `doctor` afterwards, without starting it, until it is passed on", async () => {
    const box = scene();
    const before = [await box.cli(["explain", "notes"]), await box.cli(["doctor"])];
    for (const { out } of before) expect(out).not.toContain("NOTES_API_KEY");
    await box.cli(["tools", "notes"]);
    for (const verb of [["explain", "notes"], ["doctor"]])
      expect(flat((await box.cli(verb)).out), verb[0]).toMatch(passOn);
    const passed = { command: node, args: [program], inheritEnv: ["NOTES_API_KEY"] };
    box.write("home/.config/plugboard/config.json", { mcpServers: { notes: passed } });
    for (const verb of [["explain", "notes"], ["doctor"]])
      expect((await box.cli(verb)).out).not.toContain("NOTES_API_KEY is set here");
    expect((await box.cli(["tools", "notes"])).code).toBe(0);
  });

  it("is not told so where the variable is not set", async () => {
    expect((await scene(undefined, "").cli(["tools", "notes"])).err).not.toContain("inherit-env");
  });

  it("gets it after `add` if a person agrees, and is asked once", async () => {
    const words = ["add", "notes", "--", node, program];
    const box = scene({});
    const yes = await box.cli(words, { answers: [], forms: [true, true] });
    expect(yes.asked).toHaveLength(2);
    expect(yes.asked[1]).toContain("Pass on NOTES_API_KEY from your environment to notes?");
    expect(yes.out).toMatch(/✓ notes {2}connected/);
    const other = scene({});
    const no = await other.cli(words, { answers: [], forms: [true, false] });
    expect(no.asked).toHaveLength(2);
    expect((await other.cli(["get", "notes", "--json"])).out).not.toContain("inheritEnv");
  });
});

it("M23 names only variables that are set, and that an entry does not give or pass on", () => {
  const env = {
    A_KEY: "1",
    B_KEY: "2",
    C_KEY: "3",
    D_KEY: "",
    HTTPS_PROXY: "p",
    PLUGBOARD_APPROVAL_KEY: "s",
  };
  const words = "A_KEY, B_KEY, C_KEY, D_KEY, E_KEY, HTTPS_PROXY or PLUGBOARD_APPROVAL_KEY; a_key";
  expect(withheldVariables(words, env, { env: { B_KEY: "x" }, inheritEnv: ["C_*"] })).toEqual(["A_KEY"]);
});

it("M40 GitHub's remote server is known to take a token instead of a login", () => {
  expect(knownNeed("api.githubcopilot.com")).toContain("personal access token");
  expect(knownNeed("mcp.example")).toBeUndefined();
  expect(knownNeed("api.githubcopilot.com.evil.example")).toBeUndefined();
  const { hint } = cannotRegister("github", "https://github.com/login/oauth", "");
  expect(hint).toContain("personal access token");
  expect(hint).toContain("`Bearer ${secret:GITHUB_TOKEN}`");
});
