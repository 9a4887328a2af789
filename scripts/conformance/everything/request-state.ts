import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { RpcFailure, type Fields } from "./wire.ts";

type Answers = Record<string, Fields>;

/** Carries the answers of earlier rounds through the client, which can read but not change them. */
export class RequestStates {
  readonly #key = randomBytes(32);

  /** The state of a request, here named by `subject`. */
  seal(subject: string, answers: Answers): string {
    const payload = Buffer.from(JSON.stringify({ subject, answers })).toString("base64url");
    return `${payload}.${this.#sign(payload).toString("base64url")}`;
  }

  open(subject: string, state: unknown): Answers {
    if (state === undefined) return {};
    const [payload = "", signature = "", ...rest] = (typeof state === "string" ? state : "").split(".");
    const given = Buffer.from(signature, "base64url");
    const wanted = this.#sign(payload);
    // Decoding ignores characters that do not belong there, so the text has to be the same too.
    const isGenuine =
      given.length === wanted.length &&
      timingSafeEqual(given, wanted) &&
      signature === wanted.toString("base64url");
    if (!isGenuine || rest.length > 0) throw new RpcFailure(-32602, "The request state was changed");
    const opened = JSON.parse(Buffer.from(payload, "base64url").toString()) as {
      subject: string;
      answers: Answers;
    };
    if (opened.subject !== subject) throw new RpcFailure(-32602, "The state is of another request");
    return opened.answers;
  }

  #sign(payload: string): Buffer {
    return createHmac("sha256", this.#key).update(payload).digest();
  }
}
