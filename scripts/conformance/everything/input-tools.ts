import { form, roots, sampling, says } from "./content.ts";
import type { Tool } from "./tools.ts";
import { fieldsOf, type Question } from "./wire.ts";

const name = { name: { type: "string" } };
const color = { color: { type: "string" } };
const ok = { ok: { type: "boolean" } };

/** Tools that ask, one for each scenario about `input_required`. */
export const inputTools: Record<string, Tool> = {
  test_input_required_result_elicitation: {
    description: "Asks for a name",
    run: async (call) => {
      const { user_name: answer } = await call.ask({ user_name: form("What is your name?", name) });
      return says(`Hello, ${String(fieldsOf(answer["content"])["name"])}!`);
    },
  },
  test_input_required_result_sampling: {
    description: "Asks the model for a capital",
    run: async (call) => {
      const { capital_question: reply } = await call.ask({
        capital_question: sampling("What is the capital of France?"),
      });
      return says(String(fieldsOf(reply["content"])["text"]));
    },
  },
  test_input_required_result_list_roots: {
    description: "Asks for the client's roots",
    run: async (call) => {
      const { client_roots: answer } = await call.ask({ client_roots: roots });
      return says(`Roots: ${JSON.stringify(answer["roots"])}`);
    },
  },
  test_input_required_result_request_state: {
    description: "Asks, and needs its state back",
    run: async (call) => {
      await call.ask({ confirm: form("Please confirm", ok) });
      return says("state-ok");
    },
  },
  test_input_required_result_tampered_state: {
    description: "Asks, and refuses a state that was changed",
    run: async (call) => {
      await call.ask({ confirm: form("Please confirm", ok) });
      return says("The state is intact.");
    },
  },
  test_input_required_result_multiple_inputs: {
    description: "Asks three questions at once",
    run: async (call) => {
      const answers = await call.ask({
        user_name: form("What is your name?", name),
        greeting: sampling("Generate a greeting", 50),
        client_roots: roots,
      });
      return says(`Answers: ${JSON.stringify(answers)}`);
    },
  },
  test_input_required_result_multi_round: {
    description: "Asks twice, one question after the other",
    run: async (call) => {
      const { step1 } = await call.ask({ step1: form("Step 1: What is your name?", name) });
      const { step2 } = await call.ask({ step2: form("Step 2: What is your favorite color?", color) });
      return says(`Answers: ${JSON.stringify([step1["content"], step2["content"]])}`);
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks only what the client can answer",
    run: async (call) => {
      const questions: Record<string, Question> = {
        ...(call.can("elicitation") && { user_name: form("What is your name?", name) }),
        ...(call.can("sampling") && { greeting: sampling("Generate a greeting") }),
      };
      return says(`Answers: ${JSON.stringify(await call.ask(questions))}`);
    },
  },
};
