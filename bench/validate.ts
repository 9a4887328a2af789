/**
 * Measures the cost of checking arguments: a thousand tools are listed, each is called once, and some a thousand times.
 * Compares ours with ajv and cfworker, then runs ours on hostile schemas. Run: node bench/validate.ts
 */
import { Validator as CfValidator } from "@cfworker/json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { compileSchema } from "../src/catalog/schema/compile/compile.ts";
import { guardSchema } from "../src/catalog/schema/guard.ts";
import { createValidator } from "../src/catalog/schema/validate.ts";

type Check = (value: unknown) => boolean;

const tools = 1_000;
const busy = 50;
const calls = 1_000;

const engines: Record<string, () => (schema: object) => Check> = {
  ours: () => (schema) => {
    const validate = createValidator(schema);
    return (value) => validate(value).length === 0;
  },
  ajv: () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    return (schema) => ajv.compile(schema) as Check;
  },
  cfworker: () => (schema) => {
    const validator = new CfValidator(schema, "2020-12", true);
    return (value) => validator.validate(value).valid;
  },
};

const good = {
  query: "is:open label:bug",
  limit: 20,
  sort: "updated",
  filters: { since: "2026-01-01", labels: ["bug", "api"], state: "open" },
  author: { kind: "user", login: "ada" },
};
const bad = { ...good, limit: "20", filters: { ...good.filters, state: "opne" } };

console.log(
  `${tools} tools, ${calls} calls to each of ${busy} of them; microseconds of CPU time unless stated otherwise`,
);
console.log("engine     list all (ms)  first call  then, valid  then, invalid  heap (MB)");
for (const [name, create] of Object.entries(engines)) {
  const schemas = Array.from({ length: tools }, (_, index) => toolSchema(index));
  const heap = heapMb();
  const compile = create();
  let start = cpuMs();
  const checks = schemas.map(compile);
  const listing = cpuMs() - start;
  start = cpuMs();
  for (const check of checks) if (!check(good)) throw new Error(`${name} rejects valid arguments`);
  const first = ((cpuMs() - start) * 1_000) / tools;
  const size = heapMb() - heap;
  const [valid, invalid] = [good, bad].map((value) => {
    for (const check of checks.slice(0, busy)) for (let i = 0; i < 200; i++) check(value);
    const begin = cpuMs();
    for (const check of checks.slice(0, busy)) for (let i = 0; i < calls; i++) check(value);
    return ((cpuMs() - begin) * 1_000) / (busy * calls);
  }) as [number, number];
  const columns = [
    listing.toFixed(1),
    first.toFixed(1),
    valid.toFixed(2),
    invalid.toFixed(2),
    size.toFixed(0),
  ];
  console.log(
    name.padEnd(10),
    columns.map((text, index) => text.padStart([14, 11, 12, 14, 10][index] ?? 0)).join(" "),
  );
}

const schemas = Array.from({ length: tools }, (_, index) => toolSchema(index));
for (const [what, work] of Object.entries({
  guardSchema,
  "compileSchema openai-strict": (schema: object) => compileSchema(schema, "openai-strict"),
  "compileSchema anthropic": (schema: object) => compileSchema(schema, "anthropic"),
  "compileSchema gemini": (schema: object) => compileSchema(schema, "gemini"),
})) {
  const start = cpuMs();
  for (const schema of schemas) work(schema);
  console.log(`${what}: ${(((cpuMs() - start) * 1_000) / tools).toFixed(0)} µs per tool`);
}

console.log("\nhostile schemas: milliseconds for the first call, then for the second");
const doubling: Record<string, unknown> = { d0: { type: "string" } };
for (let i = 1; i <= 30; i++)
  doubling[`d${i}`] = { anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
const many = Object.fromEntries(
  Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: "string" }]),
);
const bombs: Record<string, [schema: object, value: unknown]> = {
  "^(a+)+$ on 5,000 a's": [{ pattern: "^(a+)+$" }, `${"a".repeat(5_000)}!`],
  "(a|b)*a(a|b){15}$": [{ pattern: "(a|b)*a(a|b){15}$" }, "abba".repeat(450)],
  "anyOf doubling 30 times": [{ $defs: doubling, $ref: "#/$defs/d30" }, {}],
  "20,000 properties": [{ properties: many, additionalProperties: false }, { q: 1 }],
  "uniqueItems, 3,000 objects": [
    { uniqueItems: true },
    Array.from({ length: 3_000 }, (_, id) => ({ id, tags: ["a"] })),
  ],
  "600,000 items": [{ items: { type: "integer" } }, Array.from({ length: 600_000 }, () => 1)],
};
for (const [name, [schema, value]] of Object.entries(bombs)) {
  const validate = createValidator(schema);
  const times = [0, 1].map(() => {
    const start = cpuMs();
    validate(value);
    return (cpuMs() - start).toFixed(1).padStart(7);
  });
  console.log(name.padEnd(28), times.join(" "));
}

function heapMb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1e6;
}

/** CPU time, because wall time on a shared machine depends on other work. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** A medium-sized search tool, like code generators write them. Each one is slightly different. */
function toolSchema(index: number): object {
  return {
    type: "object",
    properties: {
      query: {
        type: "string",
        minLength: 1,
        maxLength: 500,
        description: `What to search for in number ${index}`,
      },
      limit: { type: "integer", minimum: 1, maximum: 100 + index, default: 20 },
      sort: { type: "string", enum: ["created", "updated", "comments", `extra-${index}`] },
      filters: {
        type: "object",
        properties: {
          since: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
          labels: { type: "array", items: { type: "string" }, maxItems: 20 },
          state: { enum: ["open", "closed", "all"] },
        },
        required: ["since"],
        additionalProperties: false,
      },
      author: { anyOf: [{ $ref: "#/$defs/user" }, { $ref: "#/$defs/team" }, { type: "null" }] },
    },
    required: ["query"],
    additionalProperties: false,
    $defs: {
      user: {
        type: "object",
        properties: { kind: { const: "user" }, login: { type: "string" } },
        required: ["kind", "login"],
      },
      team: {
        type: "object",
        properties: { kind: { const: "team" }, slug: { type: "string" } },
        required: ["kind", "slug"],
      },
    },
  };
}
