/** What the gateway saw of one client, made from the messages on the wire. */
export interface Observed {
  /** Name and version that the client gave. */
  client?: string;
  /** The revision that was spoken in the end. */
  revision?: string;
  capabilities: string[];
  /** How often each method was sent; for HTTP `GET` and `DELETE` too. */
  methods: Record<string, number>;
}

interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
}

const meta = "io.modelcontextprotocol/";

export class Observation {
  readonly seen: Observed = { capabilities: [], methods: {} };

  count(method: string) {
    this.seen.methods[method] = (this.seen.methods[method] ?? 0) + 1;
  }

  /** A message of the client, or a batch of them. */
  fromClient(text: string) {
    for (const { method, params = {} } of messagesOf(text)) {
      if (!method) continue;
      this.count(method);
      const own = (params["_meta"] ?? {}) as Record<string, unknown>;
      if (method === "initialize") {
        this.#introduce(params["clientInfo"], params["capabilities"]);
      } else if (own[`${meta}protocolVersion`] && method !== "server/discover") {
        this.seen.revision = String(own[`${meta}protocolVersion`]);
        this.#introduce(own[`${meta}clientInfo`], own[`${meta}clientCapabilities`]);
      }
    }
  }

  /** A message of the gateway: only the answer to `initialize` matters. */
  fromGateway(text: string) {
    for (const { result } of messagesOf(text)) {
      if (result?.["serverInfo"] && typeof result["protocolVersion"] === "string") {
        this.seen.revision = result["protocolVersion"];
      }
    }
  }

  #introduce(info: unknown, capabilities: unknown) {
    const { name, version } = (info ?? {}) as Record<string, string | undefined>;
    if (name) this.seen.client = `${name} ${version ?? ""}`.trim();
    this.seen.capabilities = [
      ...new Set([...this.seen.capabilities, ...capabilityNames(capabilities)]),
    ].toSorted();
  }
}

function messagesOf(text: string): Message[] {
  try {
    const value = JSON.parse(text) as Message | Message[];
    return Array.isArray(value) ? value : [value];
  } catch {
    return [];
  }
}

/** `elicitation.form`, `roots.listChanged`, `extensions.io.modelcontextprotocol/ui`, … */
function capabilityNames(value: unknown): string[] {
  return Object.entries((value ?? {}) as Record<string, unknown>).flatMap(([name, inner]) => {
    const names = Object.entries((inner ?? {}) as Record<string, unknown>)
      .filter(([, set]) => set !== false)
      .map(([part]) => (name === "extensions" ? part : `${name}.${part}`));
    return names.length > 0 ? names : [name];
  });
}
