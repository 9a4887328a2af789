import { describe, expect, it } from "vitest";
import type { Hub, View } from "../../src/index.ts";
import { inProcessFake, openHub } from "../servers/hub-fixture.ts";
import { ListServer, hubOf, named } from "../catalog/list-server.ts";

const nothing = () => undefined;

/** Every public method but those that close it. The arguments would be fine if it were open. */
const ofViews: Record<Exclude<keyof View, "engine">, (view: View) => unknown> = {
  view: (view) => view.view({}),
  on: (view) => view.on("call-end", nothing),
  onNotification: (view) => view.onNotification(nothing),
  notify: (view) => view.notify("it", "example/said"),
  offer: (view) => view.offer(),
  metaTools: (view) => view.metaTools(),
  tools: (view) => view.tools(),
  allTools: (view) => view.allTools(),
  search: (view) => view.search("add two numbers"),
  callTool: (view) => view.callTool("it.add", { a: 1, b: 2 }),
  checkCall: (view) => view.checkCall("it.add", { a: 1, b: 2 }),
  mayAsk: (view) => view.mayAsk([]),
  canApprove: (view) => view.canApprove,
  writtenUrl: (view) => view.writtenUrl("it"),
  isUntrusted: (view) => view.isUntrusted("it"),
  forwardCall: (view) => view.forwardCall("it.add", {}),
  findTool: (view) => view.findTool("it.add"),
  listStates: (view) => view.listStates(),
  resources: (view) => view.resources(),
  resourceTemplates: (view) => view.resourceTemplates(),
  prompts: (view) => view.prompts(),
  commands: (view) => view.commands(),
  readResource: (view) => view.readResource("it", "fake://readme"),
  subscribeResource: (view) => view.subscribeResource("it", "fake://readme", nothing),
  getPrompt: (view) => view.getPrompt("it.greet"),
  findPrompt: (view) => view.findPrompt("it.greet"),
  complete: (view) => view.complete("it", { prompt: "greet" }, { name: "who", value: "a" }),
  mentions: (view) => view.mentions("@it:fake://readme"),
  result: (view) => view.result("handle"),
  resultValue: (view) => view.resultValue("handle"),
  tasks: (view) => view.tasks(),
  task: (view) => view.task("t_aaaaaaaaaaaaaaaaaaaa"),
  rootsChanged: (view) => view.rootsChanged(),
  setSandboxState: (view) => view.setSandboxState({}),
  explainTool: (view) => view.explainTool("it.add"),
  summary: (view) => view.summary(),
  digest: (view) => view.digest(),
  request: (view) => view.request("tools/list", {}, { server: "it" }),
  configuredAnswer: (view) => view.configuredAnswer("it", "elicitation/create", {}),
};

const ofHubs: Record<Exclude<keyof Hub, keyof View | "close" | symbol>, (hub: Hub) => unknown> = {
  start: (hub) => hub.start(),
  status: (hub) => hub.status(),
  introductions: (hub) => hub.introductions(),
  checkPins: (hub) => hub.checkPins(),
  flags: (hub) => hub.flags(),
  config: (hub) => hub.config,
  connect: (hub) => hub.connect("it"),
  disconnect: (hub) => hub.disconnect("it"),
  reconnect: (hub) => hub.reconnect(),
  login: (hub) => hub.login("it"),
  logout: (hub) => hub.logout("it"),
  account: (hub) => hub.account("it"),
  questions: (hub) => hub.questions(),
  answer: (hub) => hub.answer("q1", {}),
  approvals: (hub) => hub.approvals,
  calls: (hub) => hub.calls(),
  cancel: (hub) => hub.cancel("c1"),
  refresh: (hub) => hub.refresh(),
  reload: (hub) => hub.reload({ servers: {} }),
  add: (hub) => hub.add("new", inProcessFake({})),
  remove: (hub) => hub.remove("it"),
  disable: (hub) => hub.disable("it"),
  enable: (hub) => hub.enable("it"),
  setLogLevel: (hub) => hub.setLogLevel("error"),
  events: (hub) => hub.events(),
};

const closed = {
  code: "connection-lost",
  executed: "no",
  message: "The hub is closed.",
  data: { reason: "closed" },
};

describe("M60 a closed hub", () => {
  it.for(Object.entries({ ...ofViews, ...ofHubs }))("throws at `%s`", async ([name, use]) => {
    const hub = await openHub({ it: inProcessFake({}) });
    const view = hub.view({ caller: "ada" });
    await hub.tools();
    await hub.close();
    const targets: (Hub | View)[] = name in ofViews ? [hub, view] : [hub];
    for (const target of targets)
      await expect(Promise.resolve().then(() => use(target as Hub))).rejects.toMatchObject(closed);
  });

  it("can be closed again, ends its iterators, and breaks off lists that are being read", async () => {
    const server = new ListServer({ tools: named("one") });
    const asked = Promise.withResolvers<void>();
    server.answers.set("tools/list", () => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    const hub = await hubOf({ it: server.entry });
    const events = hub.events()[Symbol.asyncIterator]();
    const listing = hub.tools();
    await asked.promise;
    const [, again] = [hub.close(), hub.close()];
    await expect(listing).rejects.toMatchObject(closed);
    await again;
    await hub.close();
    while (!(await events.next()).done);
  });
});
