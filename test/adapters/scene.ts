import { createHub } from "../../src/index.ts";
import type { ConfigLiteral, Hub } from "../../src/index.ts";
import { serviceNames, toolsOf } from "../../compat/many-tools/catalog.ts";
import { fakeStdio } from "../fixtures/fake/index.ts";
import type { Script } from "../fixtures/fake/index.ts";
import { inProcessFake } from "../servers/hub-fixture.ts";

/** A white pixel. */
export const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

const object = { type: "object" };
const script: Script = {
  moreTools: [
    { name: "picture", description: "Draws", inputSchema: object },
    // No object is a text, so no provider takes it.
    {
      name: "odd",
      description: "Never compiles",
      inputSchema: { type: "object", anyOf: [{ type: "string" }] },
    },
  ],
  on: [
    {
      when: { tool: "picture" },
      do: [
        {
          answer: {
            content: [
              { type: "text", text: "A pixel" },
              { type: "image", data: picture, mimeType: "image/png" },
            ],
          },
        },
      ],
    },
  ],
};

/** A hub with a real program (`it`), the same untrusted one (`stranger`), and one that asks about every call (`careful`). */
export async function openScene(): Promise<Hub> {
  const servers: ConfigLiteral["servers"] = {
    it: fakeStdio(script),
    stranger: { ...fakeStdio({}), untrusted: true, tools: { allow: ["echo"] } },
    careful: { ...fakeStdio({}), approval: "prompt", tools: { allow: ["add", "count"], deny: [] } },
  };
  return createHub({ servers, toolSearch: false }, { env: {} });
}

/** Ten thousand tools of ten services. */
export async function openCrowd(): Promise<Hub> {
  const servers = Object.fromEntries(
    serviceNames.map((name) => [
      name,
      inProcessFake({ tools: toolsOf(name, 10_000) as never, pageSize: 500 }),
    ]),
  );
  return createHub({ servers }, { env: {} });
}
