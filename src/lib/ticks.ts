import { executionAsyncResource } from "node:async_hooks";

let kept: object | undefined;

/**
 * Keeps every later tick of this process fast (`bench/ticks.ts`). Node.js makes an object for each, in a way that V8 does
 * quickly only as long as it knows their shape. V8 forgets it with a full collection that finds no such object, and never
 * learns it again: then each tick takes six times as long, and a request has several. So one of them stays.
 */
export function keepTicksFast(): void {
  if (!kept) process.nextTick(keepThisTick);
}

function keepThisTick(): void {
  const tick = executionAsyncResource() as Record<PropertyKey, unknown>;
  // Other runtimes have other things there.
  if (tick["callback"] !== keepThisTick) return;
  kept = tick;
  // It refers to whatever its maker was doing, which must not stay, too.
  for (const key of Reflect.ownKeys(tick)) if (typeof tick[key] !== "number") tick[key] = undefined;
}
