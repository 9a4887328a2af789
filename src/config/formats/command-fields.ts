import { joinArgv, splitArgv } from "../../lib/argv.ts";
import { setField, takeField } from "./draft.ts";
import { transport, usualWords } from "./transport.ts";
import { record, type Rule, type Rules, text, textList, texts } from "./fields.ts";

/** The fields of a local server in most clients. */
export const commandFields: Rules = { command: text("command"), args: texts("args"), env: record("env") };

/** The fields of a remote server in most clients. */
export const addressFields: Rules = { url: text("url"), headers: record("headers") };

/** The fields of an entry in most clients. */
export const usualFields: Rules = { type: transport(usualWords), ...commandFields, ...addressFields };

/** The program and its arguments in one list. */
export const commandList: Rule = {
  read: (value, field, draft) => {
    const words = textList(value);
    if (!words || words[0] === undefined) return `\`${field}\` is not a list of strings`;
    const [command, ...args] = words.map((word, index) => draft.translate(word, `${field}[${index}]`));
    setField(draft, "command", command, field);
    if (args.length > 0) setField(draft, "args", args, field);
    return undefined;
  },
  write: (draft, field) => {
    if (!draft.config.has("command")) return undefined;
    const words = [String(takeField(draft, "command")), ...(textList(takeField(draft, "args")) ?? [])];
    return words.map((word, index) => draft.translate(word, `${field}[${index}]`) ?? word);
  },
};

/** The program and its arguments in one string, as typed in a shell. */
export const commandLine: Rule = {
  read: (value, field, draft) => {
    if (typeof value !== "string") return `\`${field}\` is not a string`;
    return commandList.read(splitArgv(value), field, draft);
  },
};

/** A command that prints headers; other clients pass it to a shell as one string. */
export const headersHelper: Rule = {
  read: (value, field, draft) => {
    const words = typeof value === "string" && value !== "" ? value : textList(value);
    if (!words || words.length === 0) return `\`${field}\` is not a command`;
    setField(draft, "headersHelper", words, field);
    return undefined;
  },
  write: (draft, field) => {
    const helper = takeField(draft, "headersHelper");
    const words = textList(helper);
    if (!words) return helper;
    draft.notes.push({
      kind: "translated",
      field: "headersHelper",
      message: `is one string in \`${field}\``,
    });
    return joinArgv(words);
  },
};
