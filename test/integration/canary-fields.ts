import { createHash } from "node:crypto";
import { configJsonSchema } from "../../src/config.ts";
import type { Canaries } from "./canary-scene.ts";

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

/** A place in the schema that can hold a string, rightly or by mistake. */
export interface Place {
  /** For example `oauth.scopes[]` or `env.*`. */
  path: string;
  /** The value of the top-level field that holds `inner` at this place. */
  wrap(inner: unknown): unknown;
}

/** Every place below a schema, found by walking it, so that a new field is among them by itself. */
export function placesIn(schema: Schema, path: string, wrap: Place["wrap"] = (inner) => inner): Place[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema;
  const below = [
    ...anyOf.flatMap((option) => placesIn(option, path, wrap)),
    ...Object.entries(properties).flatMap(([name, field]) =>
      placesIn(field, path === "" ? name : `${path}.${name}`, (inner) => wrap({ [name]: inner })),
    ),
    ...(typeof additionalProperties === "object"
      ? placesIn(additionalProperties, `${path}.*`, (inner) => wrap({ some: inner }))
      : []),
    ...(items ? placesIn(items, `${path}[]`, (inner) => wrap([inner])) : []),
  ];
  const isOpen = schema.type === undefined && anyOf.length === 0;
  const deeper = isOpen ? [{ path, wrap: (inner: unknown) => wrap({ deeper: [inner] }) }] : [];
  const all = [{ path, wrap }, ...deeper, ...below];
  return all.filter((place) => place.path !== "");
}

const schema = configJsonSchema() as Schema;
const { mcpServers, servers: _same, $schema: _editor, ...others } = schema.properties ?? {};
const server = mcpServers?.additionalProperties;

/** The places in an entry, and those in the rest of a file. */
export const serverPlaces = placesIn(typeof server === "object" ? server : {}, "");
export const filePlaces = placesIn({ type: "object", properties: others }, "");

/** How a secret may stand in a string: in a URL, in a command, alone, as a default. */
export const shapes: Record<string, (canary: string) => string> = {
  "in a URL": (canary) => `http://ada:${canary}@127.0.0.1:9/${canary}?key=${canary}&v=${canary}#${canary}`,
  "in a command": (canary) => `\${cmd:no-such-helper --key ${canary} "X-Key: ${canary}"}`,
  alone: (canary) => canary,
  default: (canary) => `\${SOMEWHERE:-${canary}}`,
  "in a script": (canary) => `run --with "token: ${canary}" NAME=${canary} | more`,
};

/** One entry for each place and base, with a canary of its own. */
export function entriesWith(canaries: Canaries, shape: (canary: string) => string): Record<string, object> {
  const bases = { program: { command: "no-such-program" }, remote: { url: "http://127.0.0.1:9/mcp" } };
  return Object.fromEntries(
    Object.entries(bases).flatMap(([base, entry]) =>
      serverPlaces.map(({ path, wrap }, index) => {
        const value = shape(plantToken(canaries, `${path} of a ${base}`));
        return [`${base}-${index}`, { ...entry, ...(wrap(value) as object) }];
      }),
    ),
  );
}

/** Looks like a token, and is the same in every run. */
export function plantToken(canaries: Canaries, what: string): string {
  const { planted } = canaries;
  const token = createHash("sha256").update(`${planted} ${what}`).digest("hex").slice(0, 32);
  return canaries.plant(what, token);
}
