import { createValidator } from "../../host.ts";
import { isRecord } from "../../lib/record.ts";
import type { Ask, Choice } from "./ask.ts";
import { shortLabel } from "../views/marked-text.ts";
import { safe } from "./print.ts";
import type { Schema } from "../arguments/schema-parts.ts";

export interface FormField {
  name: string;
  schema: Schema;
  isRequired: boolean;
  /** The answer from the previous round, which may be that it was skipped. */
  before: FieldAnswer | undefined;
}

/** One field's answer; without a value if it was skipped or cleared. */
export interface FieldAnswer {
  value?: unknown;
}

const skipped = "\0none";
const longestAbout = 1_000;

/** Returns `undefined` if the form was cancelled. The default is only prefilled: what the person clears stays cleared. */
export async function askField(
  field: FormField,
  ask: Ask,
  signal: AbortSignal,
): Promise<FieldAnswer | undefined> {
  const { schema, isRequired } = field;
  const initial = initialOf(field);
  const message = question(field);
  if (schema["type"] === "boolean") {
    const answer = await ask.confirm({ message, initial: initial === true }, signal);
    return answer === undefined ? undefined : { value: answer };
  }
  const check = checker(schema);
  if (schema["type"] === "array") {
    const choices = choicesOf(isRecord(schema["items"]) ? schema["items"] : {}) ?? [];
    const chosen = Array.isArray(initial) ? initial.map(String) : [];
    const asked = {
      message,
      choices,
      initial: chosen,
      check: (answer: string[]) => (answer.length === 0 && !isRequired ? undefined : check(answer)),
    };
    const answer = await ask.chooseMany(asked, signal);
    return answer && { value: answer.length === 0 && !isRequired ? undefined : answer };
  }
  const choices = choicesOf(schema);
  if (choices) {
    const all = isRequired ? choices : [...choices, { value: skipped, label: "(skip)" }];
    const known = choices.find(({ value }) => value === String(initial))?.value;
    const start = known ?? (isRequired ? undefined : skipped);
    const answer = await ask.choose(
      { message, choices: all, ...(start !== undefined && { initial: start }) },
      signal,
    );
    return answer === undefined ? undefined : { value: valueOf(schema, answer) };
  }
  return askText(field, message, check, ask, signal);
}

async function askText(
  field: FormField,
  message: string,
  check: (value: unknown) => string | undefined,
  ask: Ask,
  signal: AbortSignal,
): Promise<FieldAnswer | undefined> {
  const { schema, isRequired } = field;
  const initial = initialOf(field);
  const isNumeric = schema["type"] === "number" || schema["type"] === "integer";
  const read = (text: string): unknown => (isNumeric && isExact(text) ? Number(text) : text);
  const asked = {
    message,
    ...(initial !== undefined &&
      initial !== null && { initial: safe(typeof initial === "string" ? initial : JSON.stringify(initial)) }),
    ...(isRequired ? {} : { example: "leave empty to skip" }),
    check: (text: string) => {
      if (text === "") return isRequired ? "is required" : undefined;
      return check(read(text));
    },
  };
  const answer = await ask.text(asked, signal);
  return answer === undefined ? undefined : { value: answer === "" ? undefined : read(answer) };
}

function initialOf({ schema, before }: FormField): unknown {
  return before ? before.value : schema["default"];
}

/** True for a number that is sent with the digits that were typed. */
function isExact(text: string): boolean {
  const isNumber = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(text);
  const value = Number(text);
  return isNumber && (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)));
}

/** `Delivery date: when you are at home (date, optional)` */
function question({ name, schema, isRequired }: FormField): string {
  const { title, description, type, format } = schema;
  const isPlainText = type === "string" || type === "boolean" || type === "array";
  const kind = typeof format === "string" ? format : isPlainText || typeof type !== "string" ? "" : type;
  const facts = [kind, isRequired ? "" : "optional"].filter((word) => word !== "").join(", ");
  const about = typeof description === "string" ? `: ${shortLabel(description, longestAbout)}` : "";
  const heading = `${shortLabel(typeof title === "string" ? title : name)}${about}`;
  return facts === "" ? heading : `${heading} (${shortLabel(facts)})`;
}

/** Titled and untitled choices, in the notation of every protocol revision. The hint is what is sent for a title. */
function choicesOf(schema: Schema): Choice[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  if (Array.isArray(values)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, index) => choice(value, names[index]));
  }
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : undefined;
  return titled?.filter(isRecord).map((one) => choice(one["const"], one["title"]));
}

function choice(value: unknown, title: unknown): Choice {
  const [sent, label] = [String(value), String(title ?? value)];
  return { value: sent, label: shortLabel(label), ...(label !== sent && { hint: shortLabel(sent) }) };
}

/** The chosen value with its own type: choices may be numbers. */
function valueOf(schema: Schema, answer: string): unknown {
  const { enum: values, oneOf, anyOf } = schema;
  const all: unknown[] = [values, oneOf, anyOf].find((list) => Array.isArray(list)) ?? [];
  return all
    .map((one) => (isRecord(one) && Object.hasOwn(one, "const") ? one["const"] : one))
    .find((one) => String(one) === answer);
}

function checker(schema: Schema): (value: unknown) => string | undefined {
  const validate = createValidator(schema);
  return (value) => {
    const [mistake] = validate(value);
    if (mistake) return safe(mistake.message);
    const { format } = schema;
    const isKnown = typeof format === "string" && Object.hasOwn(formats, format);
    return typeof value === "string" && isKnown ? formats[format]?.(value) : undefined;
  };
}

const formats: Record<string, (text: string) => string | undefined> = {
  email: (text) =>
    /^[^\s@]+@[^\s@]+$/.test(text) ? undefined : "must be an e-mail address, like ada@example.com",
  uri: (text) => (URL.canParse(text) ? undefined : "must be a URI, like https://example.com"),
  date: (text) => (isDate(text) ? undefined : "must be a date, like 2026-01-31"),
  "date-time": (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text))
      ? undefined
      : "must be a date with a time, like 2026-01-31T12:00:00Z",
};

/** Rejects days that do not exist, such as 31 February. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
