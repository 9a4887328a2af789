import type { CompatClient, HttpTarget, StdioTarget } from "./clients/client.ts";
import { WishScript } from "./wish-script.ts";
import type { ModelRecord } from "./wish-script.ts";
import { startModel } from "../test/fixtures/model/server.ts";
import { Scene } from "./scene.ts";
import type { ServerUnderTest } from "./server.ts";
import { startProxy } from "./wire/http-proxy.ts";
import type { Observed } from "./wire/observed.ts";

export type TransportName = "stdio" | "http";

export interface VisitResult {
  transport: TransportName;
  /** What the gateway saw. */
  seen: Observed;
  /** What the model saw. */
  model: ModelRecord;
  /** The servers' instructions were part of what the model reads: at once, or when the client was started again. */
  instructions: boolean;
  configured?: string;
  listed?: boolean | undefined;
  /** What the tool says reached the model, and what the model says was printed. */
  works: boolean;
  /** Why it did not work. */
  failure?: string;
  transcript: string[];
}

const tokenVariable = "PLUGBOARD_TOKEN";
const token = "compat-token-0123456789abcdef0123456789abcdef";
/** How the instructions of the everything-server begin. */
const instructions = "# Everything Server";

/** One client at one transport: told about the gateway, listing, calling a tool. */
export async function visit(
  client: CompatClient,
  transport: TransportName,
  server: ServerUnderTest,
): Promise<VisitResult> {
  // The sum is known to nobody but the tool: an answer that has it went the whole way.
  const [a, b] = [randomNumber(), randomNumber()];
  const tool = server.call("get-sum", { a, b });
  const calls = [tool, server.call("trigger-elicitation-request", {})];
  const wishes = [...(server.find ?? []), ...calls.map(({ name, args }) => ({ tool: name, args }))];
  const script = new WishScript(wishes, instructions);
  const seen = { capabilities: [], methods: {} };
  await using model = await startModel(script);
  using scene = new Scene(server.plugboard);
  if (client.program) scene.install(client.program.name, client.program.command);
  server.prepare(scene);
  const { transcript } = scene;
  const result: VisitResult = {
    transport,
    seen,
    model: script.record,
    instructions: false,
    works: false,
    transcript,
  };
  await using stack = new AsyncDisposableStack();
  const { target, taken } = await meet(transport, scene, server, stack);
  try {
    const prompt = `Add ${a} and ${b} with the tool and tell me what it says.`;
    const outcome = await client.use({ scene, target, modelUrl: model.url, tool, prompt });
    result.configured = outcome.configured;
    result.listed = outcome.listed;
    const sum = String(a + b);
    const reached = !client.hasModel || script.record.results.some((one) => one?.text.includes(sum));
    result.works = reached && outcome.answer.includes(sum);
    if (!result.works) result.failure = whyNot(client, script.record, outcome.answer);
    result.instructions = script.record.mentioned;
    if (client.hasModel && result.works && !result.instructions) {
      const again = new WishScript([], instructions);
      await using second = await startModel(again);
      await client.use({ scene, target, modelUrl: second.url, tool, prompt });
      result.instructions = again.record.mentioned;
    }
  } catch (error) {
    result.failure = error instanceof Error ? error.message : String(error);
  }
  result.seen = taken();
  if (!(await scene.ended())) {
    result.works = false;
    result.failure ??= "the gateway went on after its client had ended";
  }
  return result;
}

const randomNumber = () => 1_000 + Math.floor(Math.random() * 9_000);

interface Meeting {
  target: StdioTarget | HttpTarget;
  taken: () => Observed;
}

/** How a client reaches the server over a transport. */
export async function meet(
  transport: TransportName,
  scene: Scene,
  server: ServerUnderTest,
  stack: AsyncDisposableStack,
): Promise<Meeting> {
  return transport === "stdio" ? overStdio(scene) : overHttp(scene, server, stack);
}

function overStdio(scene: Scene): Meeting {
  const command = ["plugboard", "serve", "--stdio"];
  return { target: { transport: "stdio", command }, taken: () => scene.observed() };
}

async function overHttp(
  scene: Scene,
  server: ServerUnderTest,
  stack: AsyncDisposableStack,
): Promise<Meeting> {
  const running = stack.use(await server.startHttp(scene, token));
  const proxy = stack.use(await startProxy(running.url));
  scene.env[tokenVariable] = token;
  const printed = (title: string) => running.printed(title).replaceAll(running.url, proxy.url);
  return {
    target: { transport: "http", url: proxy.url, tokenVariable, printed },
    taken: () => proxy.observed(),
  };
}

function whyNot(client: CompatClient, model: ModelRecord, answer: string): string {
  const [result] = model.results;
  if (!client.hasModel) return `printed ${answer.slice(0, 200) || "nothing"}`;
  if (result) return `the model got ${result.text.slice(0, 200)}`;
  if (model.names[0]) return `called ${model.names[0]}, no result came back`;
  return model.offered > 0 ? `the tool was not among ${model.offered} tools` : "the model was not asked";
}
