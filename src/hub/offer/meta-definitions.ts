/** A tool of ours that stands for a whole catalog. */
export interface MetaTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

/**
 * The names of the tools that search, describe and call others. They never change, because clients and models remember
 * them.
 */
export const metaNames = { search: "search_tools", describe: "describe_tools", call: "call_tool" } as const;

/** One of `metaNames`. */
export type MetaName = (typeof metaNames)[keyof typeof metaNames];

/** True for the name of one of the three tools in `metaNames`. */
export function isMetaName(name: string): name is MetaName {
  return name === metaNames.search || name === metaNames.describe || name === metaNames.call;
}

const { search, describe, call } = metaNames;
const text = { type: "string" };

/**
 * The three tools. Their descriptions say how to search well, because that decides more than the search itself: whole
 * tasks find a third of the right tools, single capabilities three quarters. `services` is what there is to be found.
 */
export function metaTools(services: string): MetaTool[] {
  const known = services === "" ? "" : ` Services: ${services}`;
  return [
    {
      name: search,
      description: `Find tools of the connected services. Name the service and ask for one capability at a time, like "github create issue"; search again for the next. Search before you say that something is impossible.${known}`,
      inputSchema: {
        type: "object",
        properties: { query: text, server: text, limit: { type: "integer" } },
        required: ["query"],
      },
      annotations: { readOnlyHint: true },
    },
    {
      name: describe,
      description: `Get the full definitions of found tools.`,
      inputSchema: {
        type: "object",
        properties: { names: { type: "array", items: text } },
        required: ["names"],
      },
      annotations: { readOnlyHint: true },
    },
    {
      name: call,
      description: `Call a tool by its exact name from ${search}, with arguments that fit its inputSchema.`,
      inputSchema: {
        type: "object",
        properties: { name: text, arguments: { type: "object" } },
        required: ["name"],
      },
    },
  ];
}
