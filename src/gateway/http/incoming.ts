import type { Endpoint } from "../endpoint.ts";
import { BadMessage } from "../message.ts";
import { Failure } from "../failure.ts";
import { refuse } from "./refusal.ts";
import type { HttpRefusal } from "./refusal.ts";
import type { HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";
import { refusedStatus } from "./status.ts";

/** A request that got through the edge: who sent it, and to which endpoint. */
export interface Incoming {
  request: HttpRequest;
  reply: HttpReply;
  cors: ReplyHeaders;
  caller: string;
  endpoint: Endpoint;
}

export function refuseIncoming({ reply, cors }: Incoming, refusal: HttpRefusal, idText?: string): void {
  refuse(reply, refusal, cors, idText);
}

/** Answers with a JSON-RPC failure that was thrown before anything was done; anything else is thrown on. */
export function refuseFailure(incoming: Incoming, error: unknown, idText?: string): void {
  if (!(error instanceof Failure || error instanceof BadMessage)) throw error;
  const id = error instanceof BadMessage ? error.idText : idText;
  refuseIncoming(incoming, { status: refusedStatus, ...error.failure }, id);
}

/** What a POST has to be like before its body is read. */
export function mediaTypeRefusal(request: HttpRequest): HttpRefusal | undefined {
  if (isUsual(request)) return undefined;
  const [type = "", ...parameters] = (request.header("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.find((one) => one.trim().startsWith("charset="))?.replaceAll('"', "");
  const isJson =
    type.trim() === "application/json" && /^utf-?8$/.test(charset?.split("=")[1]?.trim() ?? "utf-8");
  const encoding = request.header("content-encoding") ?? "identity";
  if (!isJson || encoding.toLowerCase() !== "identity")
    return { status: 415, message: "The body must be uncompressed JSON: Content-Type: application/json." };
  return accepts(request, "application/json") && accepts(request, "text/event-stream")
    ? undefined
    : { status: 406, message: "Accept must list application/json and text/event-stream." };
}

/** The headers as nearly every client sends them. */
function isUsual(request: HttpRequest): boolean {
  return (
    request.header("content-type") === "application/json" &&
    request.header("accept") === "application/json, text/event-stream" &&
    request.header("content-encoding") === undefined
  );
}

/** Whether a client reads this type. One that does not say reads everything. */
export function accepts(request: HttpRequest, type: string): boolean {
  const accept = request.header("accept");
  if (accept === undefined) return true;
  const group = `${type.split("/")[0]}/*`;
  return accept.split(",").some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return (
      (name === type || name === group || name === "*/*") &&
      !parameters.some((one) => /^q=0(\.0*)?$/.test(one))
    );
  });
}
