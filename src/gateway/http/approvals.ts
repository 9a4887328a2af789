import { createHmac } from "node:crypto";
import { PlugboardError, isPlugboardError } from "../../index.ts";
import type { ApprovalAnswer } from "../../host.ts";
import type { Hub } from "../../index.ts";
import { printableJson } from "../../lib/printable.ts";
import { isRecord } from "../../lib/record.ts";
import { bearerToken, comparison } from "./authentication.ts";
import type { Authentication } from "./authentication.ts";
import type { Body, HttpReply, HttpRequest, ReplyHeaders } from "./request.ts";

const maxBytes = 16_384;

export interface ApprovalApiSettings {
  hub: Pick<Hub, "approvals">;
  /** The key of those who answer; undefined if nobody can over HTTP. */
  key: string | undefined;
  /** Recognises clients, who must not answer. */
  authenticate: Authentication;
}

/**
 * `/api/approvals`: the calls that wait for approval, and answers to them. Whoever makes calls cannot approve them: this
 * needs a key of its own, or for one question the credential that the webhook was told with it.
 */
export class ApprovalApi {
  readonly #settings: ApprovalApiSettings;
  readonly #isKey: (text: string) => boolean;

  constructor(settings: ApprovalApiSettings) {
    this.#settings = settings;
    this.#isKey = settings.key === undefined ? () => false : comparison(settings.key);
  }

  /** True if a path belongs here. */
  static has(path: string): boolean {
    return path === "/api/approvals" || path.startsWith("/api/approvals/");
  }

  async handle(request: HttpRequest, reply: HttpReply): Promise<void> {
    const id = /^\/api\/approvals\/([a-z]_[a-z2-7]{20})$/.exec(request.path)?.[1];
    if (id === undefined && request.path !== "/api/approvals")
      return refuse(reply, 404, "question-over", "There is no such question.");
    try {
      const refusal = await this.#refusal(request, id);
      if (refusal) return refuse(reply, refusal.status, refusal.code, refusal.message, refusal.hint);
      const allowed = id === undefined ? ["GET"] : ["GET", "POST"];
      if (!allowed.includes(request.method))
        return refuse(reply, 405, "usage-invalid", "Method not allowed.", undefined, {
          allow: allowed.join(", "),
        });
      const { approvals } = this.#settings.hub;
      if (id === undefined) return send(reply, 200, { approvals: await approvals.waiting() });
      if (request.method === "POST") return await this.#answer(id, request, reply);
      const found = await approvals.find(id);
      if (!found) return refuse(reply, 404, "question-over", "There is no such question.");
      send(reply, 200, { ...found.question, state: found.state });
    } catch (error) {
      if (!isPlugboardError(error)) throw error;
      refuse(reply, error.httpStatus, error.code, error.message, error.hint);
    }
  }

  async #answer(id: string, request: HttpRequest, reply: HttpReply): Promise<void> {
    const type = request.header("content-type") ?? "";
    if (!/^application\/json\b/i.test(type))
      return refuse(reply, 415, "usage-invalid", "Content-Type must be application/json.");
    const body = await new Promise<Body>((resolve) => request.body(maxBytes, resolve));
    if (body === "gone") return;
    if (!body) return refuse(reply, 413, "usage-invalid", `The body is longer than ${maxBytes} bytes.`);
    const { question, state } = await this.#settings.hub.approvals.answer(id, answerIn(body));
    send(reply, 200, { id: question.id, state });
  }

  async #refusal(request: HttpRequest, id: string | undefined): Promise<ApiRefusal | undefined> {
    const { key, authenticate } = this.#settings;
    if (key === undefined)
      return { status: 404, code: "usage-invalid", message: "This gateway has no approval key." };
    const sent = bearerToken(request);
    const isForQuestion =
      id !== undefined && sent !== undefined && comparison(questionCredential(key, id))(sent);
    if (isForQuestion || (sent !== undefined && this.#isKey(sent))) return undefined;
    // Somebody who may call is told why that is not enough.
    const caller = await authenticate(request);
    if (typeof caller !== "string")
      return {
        status: 401,
        code: "approval-denied",
        message: "This needs the approval key: Authorization: Bearer <key>.",
      };
    return {
      status: 403,
      code: "approval-denied",
      message: "Clients cannot approve calls: whoever makes a call would approve it.",
      hint: "Send the approval key, which `plugboard serve` names, instead of the clients' token.",
    };
  }
}

interface ApiRefusal {
  status: number;
  code: string;
  message: string;
  hint?: string;
}

/** Good for one question only. It needs no memory, so it outlives a restart. */
export function questionCredential(key: string, id: string): string {
  return `pbq_${createHmac("sha256", key).update(`answer\0${id}`).digest("base64url")}`;
}

/** Over HTTP an answer has to say what it is about. */
function answerIn(body: Buffer): ApprovalAnswer {
  const hint = 'Send { "decision": "allow" | "deny" | "cancel", "digest": "<the question\'s digest>" }.';
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new PlugboardError("usage-invalid", "The body is not JSON.", { hint });
  }
  const { decision, remember, reason, digest } = isRecord(value) ? value : {};
  if (typeof digest !== "string")
    throw new PlugboardError("usage-invalid", "An answer names the `digest` of its question.", { hint });
  const own = {
    decision,
    digest,
    ...(remember !== undefined && { remember }),
    ...(reason !== undefined && { reason }),
  };
  return own as ApprovalAnswer;
}

function send(reply: HttpReply, status: number, body: unknown, headers: ReplyHeaders = {}): void {
  const own = { "content-type": "application/json", "cache-control": "no-store" };
  reply.send(status, { ...own, ...headers }, [printableJson(JSON.stringify(body))]);
}

function refuse(
  reply: HttpReply,
  status: number,
  code: string,
  message: string,
  hint?: string,
  headers: ReplyHeaders = {},
): void {
  const challenge: ReplyHeaders = status === 401 ? { "www-authenticate": "Bearer" } : {};
  send(
    reply,
    status,
    { error: { code, message, ...(hint !== undefined && { hint }) } },
    { ...challenge, ...headers },
  );
}
