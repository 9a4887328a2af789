/**
 * What the bridge between the eras promises, feature by feature: `docs/bridge.md` is written from it, and every cell is
 * run with every client and every server in `test/gateway/bridge*.test.ts`.
 */
export type Pair = "legacy-legacy" | "legacy-modern" | "modern-legacy" | "modern-modern";

export interface Feature {
  area: string;
  title: string;
  /** What happens for client–server; a word of `outcomes`. */
  pairs: Record<Pair, Outcome>;
  /** What a reader should know. */
  note?: string;
}

/** How something crosses. */
export const outcomes = {
  passes: "arrives as it was sent",
  pushed: "the client is asked on the stream of its request",
  standing: "the only client with roots is asked on its standing stream",
  repeated: "the client is asked on the stream of its request; then the request is repeated with the answer",
  wrapped: "`input_required` passes; its state is sealed for this client",
  parked: "the request is parked; the client gets `input_required` and comes back with the answer",
  subscribed: "one subscription at the server for all clients; each gets what it asked for",
  levelled:
    "the server is asked for the lowest level that anybody wants; each client gets what it wants of it",
  perRequest: "the level goes with each request",
  refused: "refused with the protocol's error; nobody answers in the client's name",
  none: "the other era has nothing like it",
} as const;
export type Outcome = keyof typeof outcomes;

const everywhere = (outcome: Outcome): Record<Pair, Outcome> => ({
  "legacy-legacy": outcome,
  "legacy-modern": outcome,
  "modern-legacy": outcome,
  "modern-modern": outcome,
});
const passes = everywhere("passes");
const asked: Record<Pair, Outcome> = {
  "legacy-legacy": "pushed",
  "legacy-modern": "repeated",
  "modern-legacy": "parked",
  "modern-modern": "wrapped",
};

const table = {
  definitions: {
    area: "Tools",
    title: "Definitions: annotations, icons, schemas, `_meta` and unknown fields",
    pairs: passes,
    note: "Only the name is ours, and what the configuration overrides.",
  },
  results: {
    area: "Tools",
    title: "Results: content, `structuredContent`, `_meta`, unknown fields, large integers",
    pairs: passes,
    note: "Byte for byte. A modern client also gets `resultType`. A server in the same process gives objects, not bytes, so its integers are JavaScript's.",
  },
  arguments: {
    area: "Tools",
    title: "Arguments, `_meta` and unknown parameters, large integers",
    pairs: passes,
    note: "The envelope of a modern client and progress tokens are replaced by ours.",
  },
  errors: { area: "Tools", title: "`isError`, and errors with code and data", pairs: passes },
  resources: { area: "Resources", title: "Lists, templates, reading", pairs: passes },
  prompts: { area: "Prompts", title: "Lists, getting, completion", pairs: passes },
  progress: {
    area: "During a request",
    title: "Progress, with the client's own token",
    pairs: passes,
    note: "Also after a question, with the token of the request that waits.",
  },
  cancellation: { area: "During a request", title: "Cancellation reaches the server", pairs: passes },
  leaving: {
    area: "During a request",
    title: "A client that goes away: its requests are cancelled at the server",
    pairs: passes,
    note: "Over legacy HTTP a lost connection is no cancellation; the end of the session is. Over stdio, the end of the input alone is none: what was asked before is answered, for 10 s at most.",
  },
  logging: {
    area: "During a request",
    title: "Log messages from the level that a client wants",
    pairs: {
      "legacy-legacy": "levelled",
      "legacy-modern": "perRequest",
      "modern-legacy": "levelled",
      "modern-modern": "perRequest",
    },
    note: "On a pipe nothing shows whose a message is: it is passed on only if no other caller has used the connection (`isolation: caller` gives each its own). Over HTTP it is on the stream of its request.",
  },
  listChanges: {
    area: "Changes",
    title: "Changed lists of tools, prompts and resources",
    pairs: passes,
    note: "A legacy client is told on its standing stream, a modern one on its `subscriptions/listen`.",
  },
  updates: { area: "Changes", title: "Updates of resources", pairs: everywhere("subscribed") },
  form: {
    area: "Questions",
    title: "Elicitation by form: accept, decline, cancel, several rounds",
    pairs: asked,
  },
  promptsAndResources: {
    area: "Questions",
    title: "Questions while a prompt is made or a resource is read",
    pairs: asked,
  },
  together: { area: "Questions", title: "Two questions at once", pairs: asked },
  page: { area: "Questions", title: "Elicitation by URL", pairs: asked },
  pageComplete: {
    area: "Questions",
    title: "`notifications/elicitation/complete`",
    pairs: {
      "legacy-legacy": "passes",
      "legacy-modern": "none",
      "modern-legacy": "none",
      "modern-modern": "none",
    },
  },
  pageRequired: {
    area: "Questions",
    title: "A page to open first (error -32042)",
    pairs: {
      "legacy-legacy": "pushed",
      "legacy-modern": "passes",
      "modern-legacy": "wrapped",
      "modern-modern": "wrapped",
    },
    note: "The client is asked to open the page, then the request is repeated. A client that cannot be asked so gets the error itself. It belongs to the legacy era.",
  },
  withdrawn: {
    area: "Questions",
    title: "A question that the server takes back",
    pairs: {
      "legacy-legacy": "pushed",
      "legacy-modern": "none",
      "modern-legacy": "parked",
      "modern-modern": "none",
    },
    note: "A legacy client is told with `notifications/cancelled`; a modern one gets the server's answer when it comes back.",
  },
  sampling: { area: "Questions", title: "Sampling", pairs: asked },
  roots: { area: "Questions", title: "Roots", pairs: asked },
  rootsChanged: {
    area: "Questions",
    title: "Changed roots (`notifications/roots/list_changed`)",
    pairs: {
      "legacy-legacy": "passes",
      "legacy-modern": "none",
      "modern-legacy": "none",
      "modern-modern": "none",
    },
    note: "In the modern era roots are asked for again with every request that needs them.",
  },
  unaskedRoots: {
    area: "Questions",
    title: "Roots that a server asks for outside of a request",
    pairs: {
      "legacy-legacy": "standing",
      "legacy-modern": "none",
      "modern-legacy": "refused",
      "modern-modern": "none",
    },
    note: "Many servers do when they start. Refused where several clients of a caller have roots. From then on such a server has a connection for each caller.",
  },
  undeclared: {
    area: "Questions",
    title: "A question that the client did not declare",
    pairs: everywhere("refused"),
  },
  clientError: {
    area: "Questions",
    title: "A client that answers a question with an error",
    pairs: {
      "legacy-legacy": "passes",
      "legacy-modern": "refused",
      "modern-legacy": "none",
      "modern-modern": "none",
    },
    note: "A modern server cannot be told of it, so the request fails.",
  },
  parallel: {
    area: "Questions",
    title: "Two requests of one client that ask at the same time",
    pairs: asked,
    note: "Over stdio, SSE and in process, a server that has asked once has a connection for each caller, and one of a caller's requests that can be asked runs at a time. A first question that could be meant for several callers is refused.",
  },
  slow: {
    area: "Questions",
    title: "A question that is answered after the request's own deadline",
    pairs: asked,
    note: "Time for thinking does not count. A question itself expires after ten minutes.",
  },
} satisfies Record<string, Feature>;

export type FeatureId = keyof typeof table;
export const features: Record<FeatureId, Feature> = table;
