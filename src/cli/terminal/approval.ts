import type { Approval, ApproveQuestion } from "../../index.ts";
import { effectWords } from "../views/tool.ts";
import { argumentLines } from "../views/argument-lines.ts";
import { callHeading } from "../views/marked-text.ts";
import type { Ask, Choice } from "./ask.ts";
import { safe } from "./print.ts";

/** Shows a call and lets the person decide about it, and for how long. Esc and Ctrl-C cancel it. */
export async function askApproval(
  question: ApproveQuestion,
  ask: Ask,
  signal: AbortSignal,
): Promise<Approval> {
  for (let isWhole = false; ; isWhole = true) {
    const { lines, isCut } = argumentLines(question.arguments, { width: ask.width, isWhole });
    await ask.say(questionText(question, lines));
    const choices = choicesOf(question, isCut);
    const choice = await ask.choose({ message: "Call it?", choices, initial: "deny" }, signal);
    if (choice !== "whole") return approvalOf(choice);
  }
}

function approvalOf(choice: string | undefined): Approval {
  switch (choice) {
    case "once":
      return { decision: "allow" };
    case "session":
    case "always":
      return { decision: "allow", remember: choice };
    case "deny":
      return { decision: "deny", reason: "you said no" };
    default:
      return { decision: "cancel" };
  }
}

function questionText(question: ApproveQuestion, args: readonly string[]): string {
  const { annotations, because, rule, remember, forgotten } = question;
  return [
    ...callHeading(question),
    `Effects: ${effectWords(annotations)}`,
    ...args,
    safe(`Asked because ${because}.`),
    ...(rule ? [safe(`Rule: ${rule.path}${placeWords(rule)}`)] : []),
    ...(remember.always === undefined ? [] : [safe(`Always would cover ${remember.always}.`)]),
    ...(forgotten === undefined ? [] : [safe(`Note: ${forgotten}.`)]),
  ].join("\n");
}

function placeWords({ file, line }: NonNullable<ApproveQuestion["rule"]>): string {
  return file === undefined ? "" : ` in ${file}${line === undefined ? "" : `:${line}`}`;
}

function choicesOf({ remember: { session, always } }: ApproveQuestion, isCut: boolean): Choice[] {
  return [
    { value: "once", label: "Yes, once" },
    ...(session === undefined
      ? []
      : [{ value: "session", label: "Yes, for this session", hint: "until this program ends" }]),
    ...(always === undefined
      ? []
      : [{ value: "always", label: "Yes, always", hint: "take it back with `plugboard approvals revoke`" }]),
    { value: "deny", label: "No", hint: "this call is not made" },
    { value: "cancel", label: "Cancel", hint: "stop here" },
    ...(isCut
      ? [{ value: "whole", label: "Show everything", hint: "all arguments, whole, then ask again" }]
      : []),
  ];
}
