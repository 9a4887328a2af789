import type { Approval, ApproveQuestion } from "../../index.ts";
import { effectWords } from "../views/tool.ts";
import { valueText } from "../views/value-lines.ts";
import type { Ask, Choice } from "./ask.ts";
import { safe } from "./print.ts";

/** Arguments beyond this are only counted, so that the question stays on the screen. */
const mostLines = 40;
const widestLine = 500;

/** Shows a call and lets the person decide about it, and for how long. Esc and Ctrl-C cancel it. */
export async function askApproval(
  question: ApproveQuestion,
  ask: Ask,
  signal: AbortSignal,
): Promise<Approval> {
  const { server, tool, title, annotations, because, rule, remember, forgotten } = question;
  await ask.say(
    [
      `${safe(tool)} of ${safe(server)}${title === undefined ? "" : ` (${safe(title)})`}`,
      `Effects: ${effectWords(annotations)}`,
      ...argumentLines(question.arguments),
      safe(`Asked because ${because}.`),
      ...(rule ? [safe(`Rule: ${rule.path}${placeWords(rule)}`)] : []),
      ...(remember.always === undefined ? [] : [safe(`Always would cover ${remember.always}.`)]),
      ...(forgotten === undefined ? [] : [safe(`Note: ${forgotten}.`)]),
    ].join("\n"),
  );
  const choices = choicesOf(question);
  const choice = await ask.choose({ message: "Call it?", choices, initial: "deny" }, signal);
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

function placeWords({ file, line }: NonNullable<ApproveQuestion["rule"]>): string {
  return file === undefined ? "" : ` in ${file}${line === undefined ? "" : `:${line}`}`;
}

function choicesOf({ remember: { session, always } }: ApproveQuestion): Choice[] {
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
  ];
}

/** The arguments of a call, as far as they fit. */
export function argumentLines(args: Record<string, unknown>): string[] {
  const text = valueText(args);
  if (text === "") return ["No arguments."];
  const lines = text.split("\n");
  const shown = lines.slice(0, mostLines).map((line) => {
    const rest = line.length - widestLine;
    return rest > 0
      ? `  ${line.slice(0, widestLine)} … (${rest.toLocaleString("en")} more characters)`
      : `  ${line}`;
  });
  const rest = lines.length - shown.length;
  return ["Arguments:", ...shown, ...(rest > 0 ? [`  … (${rest.toLocaleString("en")} more lines)`] : [])];
}
