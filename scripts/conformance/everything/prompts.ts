import type { Call } from "./call.ts";
import { embedded, form, image, text } from "./content.ts";
import { fieldsOf, type Fields } from "./wire.ts";

interface Prompt {
  description: string;
  arguments?: string[];
  get(call: Call): Promise<Fields[]>;
}

export const prompts: Record<string, Prompt> = {
  test_simple_prompt: {
    description: "A text",
    get: async () => [text("This is a simple prompt for testing.")],
  },
  test_prompt_with_arguments: {
    description: "A text with two arguments",
    arguments: ["arg1", "arg2"],
    get: async ({ args }) => [
      text(`Prompt with arguments: arg1='${String(args["arg1"])}', arg2='${String(args["arg2"])}'`),
    ],
  },
  test_prompt_with_embedded_resource: {
    description: "A resource and a text",
    arguments: ["resourceUri"],
    get: async ({ args }) => [
      embedded(String(args["resourceUri"]), "text/plain", "Embedded resource content for testing."),
      text("Please process the embedded resource above."),
    ],
  },
  test_prompt_with_image: {
    description: "An image and a text",
    get: async () => [image, text("Please analyze the image above.")],
  },
  test_input_required_result_prompt: {
    description: "Asks for its context",
    get: async (call) => {
      const { user_context: answer } = await call.ask({
        user_context: form("What context should the prompt use?", { context: { type: "string" } }),
      });
      return [text(`Context: ${String(fieldsOf(answer["content"])["context"])}`)];
    },
  },
};

export const describePrompt = ([name, prompt]: [string, Prompt]): Fields => ({
  name,
  description: prompt.description,
  ...(prompt.arguments && {
    arguments: prompt.arguments.map((argument) => ({
      name: argument,
      description: `The ${argument}`,
      required: true,
    })),
  }),
});
