import { existsSync } from "node:fs";
import { join } from "node:path";
import { startModel } from "../../test/fixtures/model/server.ts";
import { fakeStdio, readFakeLog, startFakeHttp, type FakeHttp } from "../../test/fixtures/fake/index.ts";
import { Scene } from "../scene.ts";
import { gateway } from "../server.ts";
import { WishScript } from "../wish-script.ts";
import type { ExportedClient } from "./clients.ts";

/** What must reach the servers; it is in the environment of the client, or written into its file. */
const fixedValue = "written-by-plugboard";
const variables = {
  WITNESS_TOKEN: "token-of-the-program",
  REMOTE_TOKEN: "token-of-the-url",
  REMOTE_TEAM: "blue",
};

/** Exports three servers to one client, lets it load them, and says what is wrong afterwards. */
export async function tryClient(one: ExportedClient): Promise<{ problems: string[]; transcript: string[] }> {
  using scene = new Scene(gateway.plugboard);
  const { program, id } = one.client;
  if (program) scene.install(program.name, program.command);
  Object.assign(scene.env, variables);
  // Clients that pass on their whole environment would otherwise pass the test without having read the file.
  const variable = one.keepsVariableNames ? "WITNESS_TOKEN" : "WITNESS";
  const log = (server: string) => join(scene.root, `${server}.log`);
  const start = (server: string) => {
    const { command, args } = fakeStdio({ log: log(server) });
    return { command, args };
  };
  const remote = await startFakeHttp();
  await using model = await startModel(new WishScript([], "-"));
  try {
    const before = one.before(start("own"));
    scene.write(one.file, before);
    scene.write(".config/plugboard/config.json", {
      servers: {
        fixed: { ...start("fixed"), env: { WITNESS: fixedValue } },
        variable: { ...start("variable"), env: { [variable]: "${WITNESS_TOKEN}" } },
        remote: {
          url: remote.url,
          headers: { Authorization: "Bearer ${REMOTE_TOKEN}", "X-Team": "${secret:REMOTE_TEAM}" },
        },
      },
    });
    const exported = await scene.run([...gateway.plugboard, "export", id, "--write", "--yes"]);
    const after = scene.read(one.file);
    scene.transcript.push(`${one.file} is now:\n${after}`);
    const isShown = await one.load(scene, model.url);
    const synced = await scene.run([...gateway.plugboard, "sync"]);
    const startedWith = (server: string, variable: string) => {
      const lines = existsSync(log(server)) ? readFakeLog(log(server)) : [];
      return lines.flatMap((line) => (line.event === "start" ? (line.env[variable] ?? "nothing") : []));
    };
    const checks: Record<string, boolean> = {
      "`plugboard export` failed": exported.code === 0,
      "a line of the file that has nothing to do with the servers changed": keeps(before, after),
      ...Object.fromEntries(
        ["own", "fixed", "variable", "remote"].map((server) => [
          `the client does not show ${server}`,
          isShown(server),
        ]),
      ),
      "own was not started": startedWith("own", "HOME").length > 0,
      "fixed got another value": isAlways(startedWith("fixed", "WITNESS"), fixedValue),
      "variable got another value": isAlways(startedWith("variable", variable), variables.WITNESS_TOKEN),
      "remote got another token": isAlways(
        headers(remote, "authorization"),
        `Bearer ${variables.REMOTE_TOKEN}`,
      ),
      "remote got another header": isAlways(headers(remote, "x-team"), variables.REMOTE_TEAM),
      "`plugboard sync` finds a difference afterwards": synced.code === 0,
    };
    const problems = Object.entries(checks).flatMap(([problem, holds]) => (holds ? [] : problem));
    return { problems, transcript: scene.transcript };
  } finally {
    await remote.close();
  }
}

/** Every line is there in the same order; of those with an outdated value, the comment. */
function keeps(before: string, after: string): boolean {
  const comment = /(?:#|\/\/|\/\*).*/;
  const lines = after.split("\n");
  let at = -1;
  return before.split("\n").every((line) => {
    const rest = line.includes("outdated") ? (comment.exec(line)?.[0] ?? "") : undefined;
    at = lines.findIndex(
      (one, index) => index > at && (rest === undefined ? one === line : one.includes(rest)),
    );
    return at !== -1;
  });
}

const headers = ({ received }: FakeHttp, name: string) =>
  received.filter(({ path }) => path === "/mcp").map((request) => request.headers[name] ?? "nothing");

const isAlways = (found: readonly unknown[], wanted: string) =>
  found.length > 0 && found.every((value) => value === wanted);
