import { isPlainWord } from "../../lib/plain-word.ts";
import { looksSecret } from "../../lib/secret-words.ts";
import { hide, showPlain } from "./marked.ts";
import { showUrl } from "./url.ts";

/** One word of a command line whose references are marked; see `shownArgs`. */
export function showWord(word: string, before = ""): string {
  if (before === "--mount") return word.split(",").map(showMountPart).join(",");
  const { name, separator, value } = takeValue(word, before);
  if (value !== undefined) return name + separator + hide(value);
  const [, option, given] = /^(--?[A-Za-z][\w.-]*)=(.*)$/s.exec(word) ?? [];
  if (option !== undefined && given !== undefined) {
    const inner = takeValue(given, option);
    const shown =
      inner.value === undefined ? showShape(given) : inner.name + inner.separator + hide(inner.value);
    return `${showShape(option)}=${shown}`;
  }
  return showShape(word);
}

/** `type=bind,src=/home/me,dst=/data` as docker writes it; other parts may be options of a network drive. */
function showMountPart(part: string): string {
  const [, name = "", value = ""] = /^([a-z]+)=(.*)$/s.exec(part) ?? [];
  if (/^(?:type|src|source|dst|destination|target)$/.test(name)) return `${name}=${showPlain(value)}`;
  return /^(?:ro|readonly)$/.test(part) ? part : hide(part);
}

/** The likely secret in an argument: the one after `--token`, or part of `--token=…`, `--env=TOKEN=…` or `Authorization: …`. */
export function secretInArgument(args: readonly string[], index: number): string | undefined {
  const [word = "", before = ""] = [args[index], args[index - 1]];
  const inside = assignedSecret(word, isHeaderOption.test(before));
  if (inside !== undefined) return inside;
  return isSecretOption(before) && word !== "" && !word.startsWith("-") ? word : undefined;
}

function assignedSecret(word: string, isHeader = false): string | undefined {
  // One name after the other, as in `--set=auth.token=…`. A hostile word may have thousands of them.
  let rest = 0;
  for (let end = word.indexOf("="); end !== -1; end = word.indexOf("=", rest)) {
    const name = word.slice(rest, end);
    if (!/^-{0,2}[\w.-]+$/.test(name) || end === word.length - 1) break;
    rest = end + 1;
    isHeader = false;
    if (looksSecret(name)) return word.slice(rest);
  }
  // Without a space after the colon it may be something else, such as an image and its tag.
  const [, header = "", sent = ""] =
    (isHeader ? /^([\w-]+): *(.+)$/s : /^([\w-]+): +(.+)$/s).exec(word.slice(rest)) ?? [];
  return looksSecret(header) ? sent : undefined;
}

const isHeaderOption = /^(?:-H|--headers?)$/i;
const isUserOption = /^(?:-u|--user|--proxy-user)$/;

function isSecretOption(before: string): boolean {
  return /^-[\w.-]+$/.test(before) && looksSecret(before);
}

interface Taken {
  name: string;
  separator: string;
  /** What has to be hidden. */
  value?: string;
}

/** Splits a word into a name that may be shown and a value that may not. */
function takeValue(word: string, before: string): Taken {
  const all = { name: "", separator: "", value: word };
  if (isHeaderOption.test(before) || /^[\w-]+: /.test(word)) {
    const [, name, separator = "", value = ""] = /^([\w-]+)(: *)(.*)$/s.exec(word) ?? [];
    return name !== undefined && isPlainWord(name) ? { name, separator, value } : all;
  }
  if (isSecretOption(before) && !word.startsWith("-")) return all;
  if (isUserOption.test(before) && word.includes(":")) return all;
  const [, name, value = ""] = /^([A-Za-z_][\w.-]*)=(.*)$/s.exec(word) ?? [];
  if (name === undefined || isRequirement.test(word)) return { name: "", separator: "" };
  return isPlainWord(name) ? { name, separator: "=", value } : all;
}

/** `package==1.2` as pip and uv write it. */
const isRequirement = /^[\w.-]+(?:\[[\w,.-]+\])?==[\d.*]+[a-z0-9.]*$/;

function showShape(word: string): string {
  if (/^(?:[a-z][a-z0-9+.-]*:)+\/\/|^(?:https?|wss?|ftp):/i.test(word)) return showUrl(word);
  if (isRequirement.test(word)) return word.length < 100 ? word : hide(word);
  if (word.includes("-----BEGIN ")) return hide(word);
  if (delimiters.test(word)) return showScript(word);
  // `-pSECRET`: the value may directly follow the letter.
  const [, letter, rest = ""] = /^(-[A-Za-z])([^-].*)$/s.exec(word) ?? [];
  if (letter !== undefined && !/^(?:[a-z-]+|[A-Za-z]{1,2}|\d{1,5})$/.test(rest)) return letter + hide(rest);
  return showPlain(word);
}

const delimiters = /[\s"'`;|&<>(){}[\]]/;

/** A script or JSON: word by word, and never the word after a name that stands for a secret. */
function showScript(script: string): string {
  let before = "";
  return script
    .split(/([\s"'`;|&<>(){}[\]]+)/)
    .map((word, index) => {
      if (index % 2 === 1 || word === "") return word;
      const isValue = before.endsWith(":") || looksSecret(before) || /^(?:Bearer|Basic|Token)$/i.test(before);
      const shown = isValue && !/^(?:--|:$)/.test(word) ? hide(word) : showWord(word, before);
      before = word;
      return shown;
    })
    .join("");
}
