import { says } from "./content.ts";
import type { Tool } from "./tools.ts";

const string = { type: "string" };

/** Its schema uses what must survive on the way to a client. */
export const jsonSchemaTool: Tool = {
  description: "Has a schema with the vocabulary of JSON Schema 2020-12",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: { $anchor: "addressDef", type: "object", properties: { street: string, city: string } },
    },
    properties: {
      name: string,
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: string,
      email: string,
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
  run: async (call) => says(`Arguments: ${JSON.stringify(call.args)}`),
};
