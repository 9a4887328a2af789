import type { Authorization, OwnRequest, Sending, SendOptions } from "./authorization.ts";
import type { Head } from "./exchange.ts";
import { statusError } from "./status.ts";

/** A message whose HTTP response contains no answer. */
export interface Posted {
  sending: Sending;
  /** Rejects if the server refused the message or may not have received it. */
  accepted: Promise<void>;
}

export function post(
  authorization: Authorization,
  request: Omit<OwnRequest, "method">,
  { hadSession, ...options }: SendOptions & { hadSession: boolean },
): Posted {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let head: Head | undefined;
  const receiver = {
    head: (begun: Head) => {
      head = begun;
      if (isSuccess(begun)) resolve();
    },
    data: (chunk: Buffer) => {
      if (head && !isSuccess(head)) chunks.push(chunk);
    },
    end: () => {
      if (head && !isSuccess(head))
        reject(statusError(authorization, { head, body: Buffer.concat(chunks), hadSession }));
    },
    failed: reject,
  };
  return {
    sending: authorization.send({ ...request, method: "POST" }, receiver, options),
    accepted: promise,
  };
}

function isSuccess({ status }: Head): boolean {
  return status >= 200 && status < 300;
}
