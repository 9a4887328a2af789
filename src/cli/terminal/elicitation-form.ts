import { createValidator } from "../../index.ts";
import type { ElicitAnswer, ElicitForm } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import type { Ask } from "./ask.ts";
import { askField } from "./form-field.ts";
import type { FieldAnswer } from "./form-field.ts";
import { safe } from "./print.ts";
import { valueText } from "../views/value-lines.ts";

/** Asks for a server's form field by field. The person can decline at the start and review the answers before sending. */
export async function fillForm(
  { server, message, schema }: ElicitForm,
  ask: Ask,
  signal: AbortSignal,
): Promise<ElicitAnswer> {
  const fields = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const start = await ask.choose(
    {
      message: `${safe(server)} asks: ${safe(message)}`,
      choices: [
        { value: "answer", label: fields.length === 0 ? "Accept" : "Answer" },
        { value: "decline", label: "Decline", hint: "tell the server no" },
      ],
    },
    signal,
  );
  if (start !== "answer") return { action: start === undefined ? "cancel" : "decline" };
  const answers = new Map<string, FieldAnswer>();
  for (;;) {
    for (const [name, field] of fields) {
      const asked = {
        name,
        schema: isRecord(field) ? field : {},
        isRequired: required.has(name),
        before: answers.get(name),
      };
      const answer = await askField(asked, ask, signal);
      if (!answer) return { action: "cancel" };
      answers.set(name, answer);
    }
    const given = [...answers].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]]));
    const content = Object.fromEntries(given) as Record<string, unknown>;
    const next = await review(server, schema, content, fields.length, ask, signal);
    if (next !== "change") return next === "send" ? { action: "accept", content } : { action: next };
  }
}

/** A single valid field is sent without a review. */
async function review(
  server: string,
  schema: Record<string, unknown>,
  content: Record<string, unknown>,
  count: number,
  ask: Ask,
  signal: AbortSignal,
): Promise<"send" | "change" | "decline" | "cancel"> {
  const [mistake] = createValidator(schema)(content);
  if (count < 2 && !mistake) return "send";
  await ask.say(valueText(content) || "(nothing)");
  const problem = mistake ? `${mistake.path} ${mistake.message}. ` : "";
  const next = await ask.choose(
    {
      message: `${safe(problem)}Send this to ${safe(server)}?`,
      choices: [
        ...(mistake ? [] : [{ value: "send", label: "Send" }]),
        { value: "change", label: "Change it" },
        { value: "decline", label: "Decline", hint: "nothing is sent" },
      ],
    },
    signal,
  );
  return (next ?? "cancel") as "send" | "change" | "decline" | "cancel";
}
