import { chmodSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { joinArgv } from "../../src/lib/argv.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { createSandbox } from "../sandbox.ts";
import type { Sandbox } from "../sandbox.ts";

const user = "home/.config/plugboard/config.json";
const address = "postgres://ada:Hun%40ter2@db.example/app";

/** Says its password in other forms than the one in which it got it, and exits. */
const talking = `
  const { username, password } = new URL(process.argv[2]);
  console.error("password " + password + "\\nsent " + decodeURIComponent(password));
  console.error("login " + username + ":" + password + "\\nkey is " + process.argv[4]);
  process.exitCode = 3;`;

function talkingIn(box: Sandbox) {
  const args = [box.write("project/talking.mjs", talking), address, "--password", "swordfish"];
  return { command: process.execPath, args };
}

describe("M23 secrets in the arguments of a program", () => {
  it("shows none of them in errors, the status, the log or its file", async () => {
    const box = createSandbox();
    box.write(user, { mcpServers: { db: talkingIn(box) } });
    const runs = [["call", "db.x"], ["call", "db.x", "--verbose"], ["status"], ["logs", "db"]];
    for (const words of runs) {
      const { out, err } = await box.cli(words);
      expect(out + err).toMatch(/login (ada:)?\(hidden\)/);
      expect(out + err).not.toMatch(/Hun|ter2|swordfish/);
    }
    const folder = join(box.folders.state, "logs");
    const logs = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    expect(logs.join("")).not.toMatch(/Hun|ter2|swordfish/);
  });

  it("shows none of them for a server that is named on the command line, but its error and exit code", async () => {
    const box = createSandbox();
    const { command, args } = talkingIn(box);
    const { code, err } = await box.cli(["call", "--command", joinArgv([command, ...args]), "echo"]);
    expect(code).not.toBe(0);
    expect(err).toContain("code 3");
    expect(err).not.toMatch(/Hun|ter2|swordfish|There is no tool/);
  });
});

const note = {
  name: "note",
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string" },
      token: { type: "string" },
      level: { type: "string", enum: ["low", "high"] },
    },
    required: ["text"],
    additionalProperties: false,
  },
};

describe("M22 a corrected command line", () => {
  const box = () => {
    const made = createSandbox({ [user]: { mcpServers: { files: fakeStdio({ tools: [note] }) } } });
    made.write("project/key.txt", "swordfish");
    return made;
  };

  it("names the file again instead of showing what is in it", async () => {
    const { err } = await box().cli(["call", "files.note", "txt=@key.txt", "token=@key.txt", "level=hig"]);
    expect(err).toContain("Try: plugboard call files.note token=@key.txt level=high text=@key.txt");
    expect(err).not.toContain("swordfish");
  });

  it("shows nothing that came from standard input, and no secret that was typed", async () => {
    const piped = await box().cli(["call", "files.note", "-"], { input: '{"txt": "swordfish"}' });
    expect(piped.code).toBe(2);
    expect(piped.err).not.toContain("swordfish");
    const typed = await box().cli(["call", "files.note", "text=a", "token=swordfish", "level=hig"]);
    expect(typed.err).toContain("Try: plugboard call files.note text=a 'token=…' level=high");
  });

  it("repeats the options that say which servers are meant", async () => {
    const one = box();
    const line = joinArgv([fakeStdio({ tools: [note] }).command, ...fakeStdio({ tools: [note] }).args]);
    const { err } = await one.cli(["call", "--command", line, "note", "text=a", "level=hig"]);
    expect(err).not.toContain("Try: plugboard call fake");
    const config = one.write("project/other.json", { mcpServers: { files: fakeStdio({ tools: [note] }) } });
    const other = await one.cli(["call", "files.note", "text=a", "level=hig", "--config", config]);
    expect(other.err).toContain(`Try: plugboard call --config ${config} files.note text=a level=high`);
  });
});

describe("M23 a trace", () => {
  const box = () => createSandbox({ [user]: { mcpServers: { files: fakeStdio({ tools: [note] }) } } });

  it("replaces an earlier trace, but no other file, and only its owner can read it", async () => {
    const one = box();
    const file = one.write("project/notes.txt", "my notes\n");
    const refused = await one.cli(["call", "files.note", "text=a", "--trace=notes.txt"]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.err).toContain("the file exists and is not a trace");
    expect(readFileSync(file, "utf8")).toBe("my notes\n");
    const trace = one.write("project/trace.jsonl", "");
    chmodSync(trace, 0o644);
    for (const text of ["first", "second"])
      expect(await one.cli(["call", "files.note", `text=${text}`, "--trace=trace.jsonl"])).toMatchObject({
        code: 0,
      });
    expect(readFileSync(trace, "utf8")).toContain("second");
    expect(readFileSync(trace, "utf8")).not.toContain("first");
    expect(statSync(trace).mode & 0o777).toBe(0o600);
  });

  it("hides parameters of a raw request whose names say that they are secret", async () => {
    const { err } = await box().cli(["request", "files", "x/y", '{"password": "swordfish"}', "--trace=json"]);
    expect(err).toContain('"password":"(hidden)"');
    expect(err).not.toContain("swordfish");
  });
});

describe("M20 what a server that is not configured offers", () => {
  it("is not kept on disk", async () => {
    const one = createSandbox();
    const { command, args } = fakeStdio({ tools: [{ ...note, name: "unheard_of_tool" }] });
    const line = joinArgv([command, ...args]);
    expect((await one.cli(["tools", "--command", line])).out).toContain("unheard_of_tool");
    const state = readdirSync(one.folders.state).filter((file) => file.startsWith("state.sqlite"));
    const kept = state.map((file) => readFileSync(join(one.folders.state, file), "latin1")).join("");
    expect(kept).not.toContain("unheard_of_tool");
  });
});
