import type { RpcFailure } from "../exchange.ts";

/**
 * The HTTP status of an answer to a modern request. The protocol says it for these codes; every other failure of a
 * request that was dispatched is an answer like any other. A request that is refused before gets 400 (`refusedStatus`).
 * Legacy answers always have 200.
 */
const statuses = new Map([
  [-32_700, 400],
  [-32_600, 400],
  [-32_601, 404],
  [-32_020, 400],
  [-32_021, 400],
  [-32_022, 400],
]);

export const refusedStatus = 400;

export function answerStatus(failure: RpcFailure | undefined): number {
  return (failure && statuses.get(failure.code)) ?? 200;
}
