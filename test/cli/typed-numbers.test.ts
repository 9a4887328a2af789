import { expect, it } from "vitest";
import { fakeStdio } from "../fixtures/fake/index.ts";
import { openLogged } from "../servers/hub-fixture.ts";
import { valueText } from "../../src/cli/views/value-lines.ts";
import { parseExact } from "../../src/lib/exact-json.ts";
import { createSandbox } from "../sandbox.ts";

const number = "12345678901234567890";

it.each([
  [["n:=12345678901234567890"], '"n":12345678901234567890'],
  [['n:=[1e400,{"a":12345678901234567890}]'], '"n":[1e400,{"a":12345678901234567890}]'],
  [['{"n":12345678901234567890}'], '"n":12345678901234567890'],
  [["--n", number], '"n":12345678901234567890'],
  [["o.n:=12345678901234567890"], '"o":{"n":12345678901234567890}'],
])("M55 a typed number reaches the server as it was typed: %j", async (words, sent) => {
  const inputSchema = {
    type: "object",
    properties: { n: { type: ["integer", "array"] }, o: { type: "object" } },
  };
  await using server = await openLogged({ tools: [{ name: "take", inputSchema }] });
  const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: { it: server.entry } } });
  expect(await box.cli(["call", "it.take", ...words])).toMatchObject({ code: 0 });
  expect(server.lines().find((line) => line.includes("tools/call"))).toContain(sent);
});

it("M55 a number in a result is printed as the server sent it", async () => {
  const result = `{"content":[],"structuredContent":{"n":${number}}}`;
  const say = { raw: `{"jsonrpc":"2.0","id":$id,"result":${result}}\n` };
  const it = fakeStdio({ versions: "legacy", on: [{ when: { tool: "echo" }, do: [say] }] });
  const box = createSandbox({ "home/.config/plugboard/config.json": { mcpServers: { it } } });
  expect((await box.cli(["call", "it.echo"])).out).toContain(`n  ${number}`);
  expect((await box.cli(["call", "it.echo", "--json"])).out).toContain(`"n": ${number}`);
  expect(valueText(parseExact(`{"n":${number},"l":[1e400,1],"m":[[${number}]]}`))).toBe(
    `n  ${number}\nl\n  - 1e400\n  - 1\nm\n  1.\n    - ${number}`,
  );
});
