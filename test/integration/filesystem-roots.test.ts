import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { StdioWire } from "../gateway/clients/stdio-wire.ts";
import { openClient } from "../gateway/clients/open-client.ts";
import { until } from "../gateway/bridge/cell.ts";
import { createSandbox } from "../sandbox.ts";
import { openHub } from "../servers/hub-fixture.ts";

test("M81 the filesystem server works in the folder that its client gives as a root, through the gateway", async () => {
  const folder = realpathSync(createSandbox().project);
  writeFileSync(join(folder, "hello.txt"), "from the project");
  const elsewhere = join(dirname(folder), "elsewhere");
  mkdirSync(elsewhere);
  const program = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-filesystem/dist/index.js",
  );
  const hub = await openHub({ files: { command: process.execPath, args: [program] } }, { keepFresh: true });
  onTestFinished(() => hub.close());
  const gateway = createGateway(hub);
  onTestFinished(() => gateway.close());
  const [input, output] = [new PassThrough(), new PassThrough()];
  void gateway.serveStdio({ input, output });
  let root = folder;
  const client = await openClient("legacy", new StdioWire(input, output), {
    capabilities: { roots: { listChanged: true } },
    answer: () => ({ roots: [{ uri: `file://${root}` }] }),
  });
  const allowed = async () => {
    const { content } = await client.result(client.call("files__list_allowed_directories"));
    return (content as [{ text: string }])[0].text;
  };
  await until("the server knows the folder", async () => (await allowed()).includes(folder));
  const { content } = await client.result(
    client.call("files__read_text_file", { path: join(folder, "hello.txt") }),
  );
  expect(content).toMatchObject([{ text: "from the project" }]);
  root = elsewhere;
  await client.notify("notifications/roots/list_changed");
  await until("the server knows the other folder", async () => (await allowed()).includes(elsewhere));
});
