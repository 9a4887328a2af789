import { commandWords, joinArgv, splitArgv } from "../../lib/argv.ts";
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

/**
 * A command that prints headers. Other clients have one string, which they pass to a shell; Plugboard has words and
 * no shell, so a string that needs one becomes a command that starts it.
 */
export const headersHelper: Rule = {
  read: (value, field, draft) => {
    const line = typeof value === "string" ? value.trim() : undefined;
    const needsShell = line !== undefined && /[|&;<>()$`*?~#\n]/.test(line);
    const words = line === undefined ? textList(value) : needsShell ? ["sh", "-c", line] : commandWords(line);
    if (!words || words.length === 0) return `\`${field}\` is not a command`;
    setField(draft, "headersHelper", words, field);
    if (needsShell) {
      const message = "uses a shell, which Plugboard does not: it is written as a command that starts `sh`";
      draft.notes.push({ kind: "translated", field, message });
    }
    return undefined;
  },
  write: (draft, field) => {
    const helper = takeField(draft, "headersHelper");
    const words = typeof helper === "string" ? commandWords(helper) : textList(helper);
    if (!words) return undefined;
    if (words.length === 3 && words[0] === "sh" && words[1] === "-c") return words[2];
    draft.notes.push({
      kind: "translated",
      field: "headersHelper",
      message: `is one string in \`${field}\``,
    });
    return joinArgv(words);
  },
};
