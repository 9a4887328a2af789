import { joinArgv, splitArgv } from "../../lib/argv.ts";
import { settle, take } from "./draft.ts";
import { transport, usualWords } from "./transport.ts";
import { record, type Rule, type Rules, text, textList, texts } from "./fields.ts";

/** What nearly every client calls the parts of a local server. */
export const commandFields: Rules = { command: text("command"), args: texts("args"), env: record("env") };

/** What nearly every client calls the parts of a remote server. */
export const addressFields: Rules = { url: text("url"), headers: record("headers") };

/** An entry as most clients write it. */
export const usualFields: Rules = { type: transport(usualWords), ...commandFields, ...addressFields };

/** The program and its arguments in one list. */
export const commandList: Rule = {
  read: (value, field, draft) => {
    const words = textList(value);
    if (!words || words[0] === undefined) return `\`${field}\` is not a list of words`;
    const [command, ...args] = words.map((word, index) => draft.translate(word, `${field}[${index}]`));
    settle(draft, "command", command, field);
    if (args.length > 0) settle(draft, "args", args, field);
    return undefined;
  },
  write: (draft, field) => {
    if (!draft.homes.has("command")) return undefined;
    const words = [String(take(draft, "command")), ...(textList(take(draft, "args")) ?? [])];
    return words.map((word, index) => draft.translate(word, `${field}[${index}]`) ?? word);
  },
};

/** A program and its arguments in one text, as a person types them. */
export const commandLine: Rule = {
  read: (value, field, draft) => {
    if (typeof value !== "string") return `\`${field}\` is not a text`;
    return commandList.read(splitArgv(value), field, draft);
  },
};

/** A command that prints headers; other clients hand it to a shell as one text. */
export const headersHelper: Rule = {
  read: (value, field, draft) => {
    const words = typeof value === "string" && value !== "" ? value : textList(value);
    if (!words || words.length === 0) return `\`${field}\` is not a command`;
    settle(draft, "headersHelper", words, field);
    return undefined;
  },
  write: (draft, field) => {
    const helper = take(draft, "headersHelper");
    const words = textList(helper);
    if (!words) return helper;
    draft.notes.push({ kind: "translated", field: "headersHelper", message: `is one text in \`${field}\`` });
    return joinArgv(words);
  },
};
