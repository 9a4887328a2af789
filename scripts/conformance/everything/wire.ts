export type Fields = Record<string, unknown>;
export type Era = "legacy" | "modern";

/** A request that a server makes of its client, or includes in an `input_required` result. */
export interface Question {
  method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  params: Fields;
}

/** An answer that is a JSON-RPC error. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: Fields | undefined;

  constructor(code: number, message: string, data?: Fields) {
    super(message);
    this.code = code;
    this.data = data;
  }

  toJSON(): Fields {
    return { code: this.code, message: this.message, ...(this.data && { data: this.data }) };
  }
}

export const missingCapability = (requiredCapabilities: Fields): RpcFailure =>
  new RpcFailure(-32021, "The client lacks a capability that this request needs", { requiredCapabilities });

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** The keys that the protocol reserves in `_meta`. */
export const metaKey = (name: string): string => `io.modelcontextprotocol/${name}`;

export const tasksExtension = metaKey("tasks");
