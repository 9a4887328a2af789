import { createValidator } from "../../host.ts";
import type { ElicitForm } from "../../host.ts";
import type { ElicitAnswer } from "../../index.ts";
import { isRecord } from "../../lib/record.ts";
import type { Ask } from "./ask.ts";
import { askField } from "./form-field.ts";
import type { FieldAnswer } from "./form-field.ts";
import { safe } from "./print.ts";
import { argumentLines } from "../views/argument-lines.ts";
import { saidLines } from "../views/said-lines.ts";

/** Asks for a server's form field by field. The person can decline at the start and review the answers before sending. */
export async function fillForm(
  { server, message, schema }: ElicitForm,
  ask: Ask,
  signal: AbortSignal,
): Promise<ElicitAnswer> {
  const fields = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const start = await askWhether(server, message, fields.length, ask, signal);
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

/** A long question is shown first, with marks that none of the form's own lines have. */
async function askWhether(
  server: string,
  message: string,
  fields: number,
  ask: Ask,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let isWhole = false; ; isWhole = true) {
    const { lines, isCut } = saidLines(message, { width: ask.width, isWhole });
    if (lines.length > 1) await ask.say([`${safe(server)} asks:`, ...lines].join("\n"));
    const choice = await ask.choose(
      {
        message: `${safe(server)} asks${lines.length > 1 ? " this. Will you answer?" : `: ${safe(message)}`}`,
        choices: [
          { value: "answer", label: fields === 0 ? "Accept" : "Answer" },
          { value: "decline", label: "Decline", hint: "tell the server no" },
          ...(isCut ? [{ value: "whole", label: "Show everything", hint: "then ask again" }] : []),
        ],
      },
      signal,
    );
    if (choice !== "whole") return choice;
  }
}

function contentLines(content: Record<string, unknown>, width: number): string[] {
  return argumentLines(content, { width: width + 2, isWhole: true })
    .lines.slice(1)
    .map((line) => line.slice(2));
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
  await ask.say(
    Object.keys(content).length === 0 ? "(nothing)" : contentLines(content, ask.width).join("\n"),
  );
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
