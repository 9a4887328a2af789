import { setTimeout as sleep } from "node:timers/promises";
import { form, says } from "./content.ts";
import type { Tool } from "./tools.ts";
import { fieldsOf, RpcFailure } from "./wire.ts";

const confirm = { confirm: { type: "boolean" } };
const name = { name: { type: "string" } };

/** The tools of the scenarios about tasks. Without tasks they do the same before they answer. */
export const taskTools: Record<string, Tool> = {
  greet: {
    description: "Greets at once",
    properties: name,
    run: async (call) => says(`Hello, ${String(call.args["name"])}!`),
  },
  slow_compute: {
    task: "optional",
    description: "Takes some seconds",
    properties: { seconds: { type: "number" }, label: { type: "string" } },
    run: (call) =>
      call.later(async ({ args, signal }) => {
        await sleep(Number(args["seconds"] ?? 0) * 1000, undefined, { signal });
        return says(`Computed ${JSON.stringify(args)}.`);
      }),
  },
  failing_job: {
    task: "required",
    description: "Fails after a while, always as a task",
    run: (call) =>
      call.later(
        async ({ signal }) => {
          await sleep(200, undefined, { signal });
          throw new Error("The job failed, as it always does.");
        },
        { required: true },
      ),
  },
  protocol_error_job: {
    task: "optional",
    description: "Ends with an error of the protocol",
    run: (call) =>
      call.later(async () => {
        throw new RpcFailure(-32603, "The job broke down.");
      }),
  },
  confirm_delete: {
    task: "optional",
    description: "Asks before it deletes nothing",
    properties: { filename: { type: "string" } },
    run: (call) =>
      call.later(async ({ args, ask }) => {
        const { answer } = await ask({ answer: form(`Delete ${String(args["filename"])}?`, confirm) });
        return says(fieldsOf(answer["content"])["confirm"] === true ? "Deleted." : "Kept.");
      }),
  },
  multi_input: {
    task: "optional",
    description: "Asks two questions at once",
    run: (call) =>
      call.later(async ({ ask }) => {
        const answers = await ask({ first: form("First name?", name), second: form("Second name?", name) });
        return says(`Answers: ${JSON.stringify(answers)}`);
      }),
  },
  test_tool_with_task: {
    task: "required",
    description: "Asks for a name, then continues as a task",
    run: async (call) => {
      const { user_name: answer } = await call.ask({ user_name: form("What is your name?", name) });
      const given = String(fieldsOf(answer["content"])["name"]);
      return call.later(async () => says(`Hello, ${given}, from a task.`), { required: true });
    },
  },
};
