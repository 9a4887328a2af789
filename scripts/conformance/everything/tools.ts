import { setTimeout as sleep } from "node:timers/promises";
import type { Call } from "./call.ts";
import { embedded, form, image, sampling, says, text, wav } from "./content.ts";
import { inputTools } from "./input-tools.ts";
import { jsonSchemaTool } from "./json-schema-tool.ts";
import { taskTools } from "./task-tools.ts";
import { fieldsOf, type Fields } from "./wire.ts";

export interface Tool {
  description: string;
  properties?: Fields;
  required?: string[];
  /** The whole schema, if properties are not enough. */
  inputSchema?: Fields;
  /** Whether it can be called as a task, or has to be. */
  task?: "optional" | "required";
  run(call: Call): Promise<Fields>;
}

const isString = { type: "string" };

/** What the suite's scenarios call, by name. */
export const tools: Record<string, Tool> = {
  test_simple_text: {
    description: "Returns a text",
    run: async () => says("This is a simple text response for testing."),
  },
  test_image_content: { description: "Returns an image", run: async () => ({ content: [image] }) },
  test_audio_content: {
    description: "Returns a sound",
    run: async () => ({ content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    description: "Returns an embedded resource",
    run: async () => ({
      content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
    }),
  },
  test_multiple_content_types: {
    description: "Returns a text, an image and a resource",
    run: async () => ({
      content: [
        text("Multiple content types test:"),
        image,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    description: "Fails",
    run: async () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  },
  test_tool_with_logging: { description: "Sends three log messages", run: runWithLogs },
  test_logging_tool: { description: "Sends three log messages", run: runWithLogs },
  test_tool_with_progress: {
    description: "Reports its progress",
    run: async (call) => {
      for (const progress of [0, 50, 100]) {
        call.progress(progress, 100);
        await sleep(20);
      }
      return says("Progress was reported.");
    },
  },
  test_reconnection: {
    description: "Takes a moment, so that its answer comes on a stream",
    run: async (call) => {
      call.log("Still working");
      await sleep(100);
      return says("The stream brought this answer.");
    },
  },
  test_sampling: {
    description: "Asks the client's model",
    properties: { prompt: isString },
    required: ["prompt"],
    run: async (call) => {
      const { reply } = await call.ask({ reply: sampling(String(call.args["prompt"])) });
      return says(`LLM response: ${String(fieldsOf(reply["content"])["text"])}`);
    },
  },
  test_elicitation: {
    description: "Asks the user for a name and an address",
    properties: { message: isString },
    required: ["message"],
    run: (call) => elicit(call, String(call.args["message"]), { username: isString, email: isString }),
  },
  test_streaming_elicitation: {
    description: "Asks the user on the stream of the call",
    run: (call) => elicit(call, "Continue?", { confirm: { type: "boolean" } }),
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks the user with defaults for every type",
    run: (call) =>
      elicit(call, "Please check these values.", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
  },
  test_elicitation_sep1330_enums: {
    description: "Asks the user with every kind of choice",
    run: (call) =>
      elicit(call, "Please choose.", {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled("value", "Option") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: titled("value", "Choice") } },
      }),
  },
  test_missing_capability: {
    description: "Needs a client that can sample",
    run: async (call) => {
      await call.ask({ reply: sampling("Say something.") });
      return says("The client can sample.");
    },
  },
  test_custom_header: {
    description: "Has a parameter that is also sent as a header",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    run: async (call) => says(`Arguments: ${JSON.stringify(call.args)}`),
  },
  json_schema_2020_12_tool: jsonSchemaTool,
  ...inputTools,
  ...taskTools,
};

const titled = (value: string, title: string): Fields[] =>
  ["First", "Second", "Third"].map((nth, at) => ({ const: `${value}${at + 1}`, title: `${nth} ${title}` }));

async function elicit(call: Call, message: string, properties: Fields): Promise<Fields> {
  const { answer } = await call.ask({ answer: form(message, properties) });
  return says(
    `User response: action=${String(answer["action"])}, content=${JSON.stringify(answer["content"])}`,
  );
}

async function runWithLogs(call: Call): Promise<Fields> {
  for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    call.log(message);
    await sleep(20);
  }
  return says("Three messages were logged.");
}

export function describeTool([name, tool]: [string, Tool]): Fields {
  const { description, properties = {}, required, inputSchema, task } = tool;
  return {
    name,
    description,
    ...(task && { execution: { taskSupport: task } }),
    inputSchema: inputSchema ?? { type: "object", properties, ...(required && { required }) },
  };
}
