/**
 * Measures the cost of checking valid values against large schemas: 200 properties, with nested alternatives. Prints
 * our time relative to compiled ajv code, and fails above 1.2. Run: node bench/validate-large.ts
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { createValidator } from "../src/catalog/schema/validate.ts";
import { median } from "./median.ts";

type Json = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const most = 1.2;
const rounds = 31;
const callsPerTurn = 200;
/** Several parsed copies, because real calls never pass the same object twice. */
const copies = 8;

const properties = Object.fromEntries(
  Array.from({ length: 200 }, (_, index) => [nameOf(index), schemaOf(index)]),
);
const names = Object.keys(properties);
const full = Object.fromEntries(names.map((name, index) => [name, valueOf(index)]));
const few = Object.fromEntries(Object.entries(full).filter((_, index) => index % 8 === 0));
const closed = {
  type: "object",
  properties,
  required: names.filter((_, index) => index % 40 === 0),
  additionalProperties: false,
};
const open = { type: "object", properties, required: names };
const listing = {
  type: "object",
  properties: { total: { type: "integer", minimum: 0 }, rows: { type: "array", items: open } },
  required: ["total", "rows"],
};

const cases: Record<string, [schema: object, value: Json]> = {
  "arguments, all of them": [closed, full],
  "arguments, one in eight": [closed, few],
  "structured output": [open, full],
  "structured output, 5 rows": [listing, { total: 5, rows: Array.from({ length: 5 }, () => full) }],
};

warmUp();
console.log(`median of ${rounds} rounds, microseconds of CPU time per check`);
for (const [name, [schema, value]] of Object.entries(cases)) {
  const values = Array.from({ length: copies }, () => JSON.parse(JSON.stringify(value)) as unknown);
  const validate = createValidator(schema);
  const ours: Check = (candidate) => validate(candidate).length === 0;
  const theirs = new Ajv2020({ strict: false, validateFormats: false }).compile(schema) as Check;
  for (const check of [ours, theirs]) if (!values.every(check)) throw new Error(`${name}: refused`);
  for (let i = 0; i < 30; i++) for (const check of [ours, theirs]) timeOf(check, values);
  const turns = Array.from({ length: rounds }, () => [timeOf(ours, values), timeOf(theirs, values)] as const);
  const ratio = median(turns.map(([our, their]) => our / their));
  const [our, their] = [0, 1].map((side) => median(turns.map((turn) => turn[side] ?? 0)).toFixed(1));
  console.log(`${name.padEnd(28)} ours ${our}, ajv ${their}: ${ratio.toFixed(2)} ×`);
  if (ratio > most) process.exitCode = 1;
}

/** CPU time, because wall time on a shared machine depends on other work. */
function timeOf(check: Check, values: readonly unknown[]): number {
  const start = process.cpuUsage();
  for (let i = 0; i < callsPerTurn; i++) check(values[i % values.length]);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / callsPerTurn;
}

/** Warms up with values of many shapes, because our code is the same for all schemas. */
function warmUp(): void {
  for (let index = 0; index < 200; index++) {
    const validate = createValidator({
      properties: { [nameOf(index)]: schemaOf(index) },
      additionalProperties: false,
    });
    for (let i = 0; i < 20; i++) {
      validate({ [nameOf(index)]: valueOf(index) });
      validate({ [nameOf(index)]: valueOf(index + 1) });
    }
  }
}

function nameOf(index: number): string {
  const words = ["query", "limit", "sort", "dryRun", "ratio", "labels", "range", "target", "owner", "source"];
  return `${words[index % 10] ?? ""}${index}`;
}

/** Ten kinds of properties that real tools have. The last three are alternatives, nested two or three levels deep. */
function schemaOf(index: number): Json {
  const text = { type: "string" };
  const place = {
    anyOf: [
      variant("city", { zip: text }),
      variant("point", { x: { type: "number" }, y: { type: "number" } }),
    ],
  };
  const kinds: Json[] = [
    { type: "string", minLength: 1, maxLength: 100 + index, description: `Text number ${index}` },
    { type: "integer", minimum: 0, maximum: 1_000 + index, default: 20 },
    { type: "string", enum: ["created", "updated", "comments", `extra-${index}`] },
    { type: "boolean" },
    { type: "number", exclusiveMinimum: 0, maximum: 1 },
    { type: "array", items: { type: "string", maxLength: 50 }, maxItems: 20 },
    {
      ...record({ from: { type: "integer" }, to: { type: "integer" }, unit: { enum: ["day", "week"] } }),
      additionalProperties: false,
    },
    {
      anyOf: [variant("user", { login: text }), variant("team", { slug: text, place }), { type: "null" }],
    },
    { anyOf: [text, { type: "array", items: { anyOf: [text, { type: "integer" }, { type: "null" }] } }] },
    {
      oneOf: [
        record({ url: text }),
        record({ path: text, entry: { oneOf: [record({ line: { type: "integer" } }), record({ place })] } }),
      ],
    },
  ];
  return kinds[index % 10] ?? {};
}

function variant(kind: string, members: Json): Json {
  return record({ kind: { const: kind }, ...members });
}

function record(members: Json): Json {
  return { type: "object", properties: members, required: Object.keys(members) };
}

/** Half of the values match the last alternative, the most expensive one for validators that try them in order. */
function valueOf(index: number): unknown {
  const isLast = index % 20 >= 10;
  const place = isLast ? { kind: "point", x: 1.5, y: 2 } : { kind: "city", zip: "10115" };
  const values = [
    `is:open label:bug ${index}`,
    index,
    isLast ? `extra-${index}` : "created",
    isLast,
    0.25,
    ["bug", "api", "good first issue"],
    { from: 1, to: 31, unit: "day" },
    isLast ? { kind: "team", slug: "core", place } : { kind: "user", login: "ada" },
    isLast ? ["a", 1, null, "b"] : "ada",
    isLast ? { path: "src/index.ts", entry: { place } } : { url: "https://example.com/a" },
  ];
  return values[index % 10];
}
