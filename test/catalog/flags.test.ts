import { describe, expect, it } from "vitest";
import { growth } from "../processor-time.ts";
import { ListServer, hubOf, object } from "./list-server.ts";

type Fields = Record<string, unknown>;

async function flagsOf(servers: Record<string, Fields[]>) {
  const entries = Object.entries(servers).map(
    ([name, tools]) => [name, new ListServer({ tools }).entry] as const,
  );
  const hub = await hubOf(Object.fromEntries(entries));
  await hub.tools();
  return (await hub.flags()).map(({ server, name, flag }) => `${server}.${name} ${flag}`);
}

const tool = (name: string, description = ""): Fields => ({ name, description, inputSchema: object });

describe("M52 flags in definitions", () => {
  it("name tools of other servers only where the name is certain to be meant", async () => {
    const common = [tool("search"), tool("read"), tool("createIssue"), tool("list_files")];
    const flags = await flagsOf({
      a: common,
      b: [
        tool("one", "Search and read everything."),
        tool("two", "Call a.search first."),
        tool("three", "After createIssue."),
        tool("four", "Uses `list_files`, then stops."),
        tool("five", "Like own_tool."),
        tool("own_tool"),
      ],
      c: [tool("list_files", "My own list_files.")],
    });
    expect(flags).toEqual(["b.two", "b.three", "b.four"].map((name) => `${name} names-foreign-tool`));
  });

  it("see through letters that look alike, and leave different names alone", async () => {
    const flags = await flagsOf({
      a: [tool("paypal_transfer"), tool("list_items"), tool("read_file"), tool("größe")],
      b: [tool("paypaI_transfer"), tool("Iist_items"), tool("read-file"), tool("readFile"), tool("поиск")],
    });
    expect(flags).toEqual(
      ["a.list_items", "a.paypal_transfer", "b.Iist_items", "b.paypaI_transfer"]
        .map((name) => `${name} look-alike-name`)
        .sort((x, y) => flags.indexOf(x) - flags.indexOf(y)),
    );
    expect(flags).toHaveLength(4);
  });

  it.for<[string, (size: number) => Fields[]]>([
    ["a long word of separators", (size) => [tool("x", `a${"-".repeat(size * 100)}b`)]],
    ["many tools of one name", (size) => Array.from({ length: size }, () => tool("same", "x"))],
    [
      "many look-alikes",
      (size) => Array.from({ length: size }, (_, at) => tool(`l${"l".repeat(at % 7)}I`, "x")),
    ],
    ["hidden characters", (size) => [tool("x", "\u200b".repeat(size * 10))]],
  ])("take linear time for %s", async ([, toolsOf]) => {
    const hub = async (size: number) => {
      const opened = await hubOf({
        bad: new ListServer({ tools: toolsOf(size) }).entry,
        other: new ListServer({ tools: [tool("list_files")] }).entry,
      });
      await opened.tools();
      return opened;
    };
    const [small, large] = [await hub(1_000), await hub(8_000)];
    const times = (work: () => Promise<unknown>) => async () => {
      for (let time = 0; time < 5; time++) await work();
    };
    const grown = await growth(
      times(() => small.flags()),
      times(() => large.flags()),
      { enough: 24 },
    );
    expect(grown).toBeLessThan(32);
  });
});
