import { answerChunks } from "./json-rpc.ts";
import type { HttpReply, ReplyHeaders } from "./request.ts";

/** A request that is refused before anything is done for it. The text is all that the sender learns. */
export interface HttpRefusal {
  status: number;
  message: string;
  /** The JSON-RPC code in the body; -32000 if the status says it all. */
  code?: number | undefined;
  data?: unknown;
  headers?: ReplyHeaders | undefined;
}

export function refuse(
  reply: HttpReply,
  refusal: HttpRefusal,
  cors: ReplyHeaders = {},
  idText = "null",
): void {
  const { status, message, code = -32_000, data, headers } = refusal;
  const failure = { code, message, ...(data !== undefined && { data }) };
  reply.send(
    status,
    { ...cors, ...headers, "content-type": "application/json" },
    answerChunks(idText, { error: failure }),
  );
}

export function tooMany(status: 429 | 503, message: string): HttpRefusal {
  return { status, message, headers: { "retry-after": "1" } };
}
