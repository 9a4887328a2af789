import type { Parking } from "../../host.ts";
import type { TaskHandle } from "../../index.ts";
import type { Core } from "../core.ts";
import { viewOf } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { Failure, failedCall } from "../failure.ts";
import { withLinks } from "../links.ts";
import { completed, openState } from "../required-input.ts";
import { ownExchange } from "./own-exchange.ts";
import type { Continuation, RunningTask } from "./running-task.ts";

export interface FollowedCall {
  task: RunningTask;
  /** The request that made it. */
  exchange: Exchange;
  signal: AbortSignal;
  first: Promise<Answer>;
  /** Makes the call again: with inputs, or to get its approval. */
  begin(more: Continuation | undefined, parking: Parking): Promise<Answer>;
}

/** Lets a task follow its call: through approval, required input, and a task that the server makes of it. */
export function followCall({ task, exchange, signal, first, begin }: FollowedCall, core: Core): void {
  const { client } = exchange;
  const { server } = task;
  let isServers = false;
  const followed = async (answering: Promise<Answer>, more?: Continuation): Promise<Answer> => {
    let answer = await answering;
    for (;;) {
      const pending = core.tasks.pendingIn(answer);
      if (!pending) break;
      await untilAnswered(pending, task, signal, core);
      answer = await begin(more, { question: pending.id, leaveAfterMs: 0, isOurs: more !== undefined });
    }
    const its = core.tasks.made.get(answer);
    if (!its) return answer;
    isServers = true;
    return followServer(await viewOf(client).task(its.id), ownExchange(exchange, signal), core);
  };
  task.follow(followed(first), (more) =>
    // What waits in a later round has inputs of its own, and ends with this process.
    isServers
      ? resumeServer(exchange, signal, more, core, server)
      : followed(begin(more, { leaveAfterMs: 0, isOurs: true }), more),
  );
}

/** A task that is cancelled withdraws its question. One that only ends with this process leaves it to the next. */
async function untilAnswered(
  { id, message }: { id: string; message: string },
  task: RunningTask,
  signal: AbortSignal,
  { hub, tasks }: Core,
): Promise<void> {
  task.statusMessage = message;
  try {
    await hub.approvals.settled(id, signal);
  } catch (error) {
    if (signal.aborted && !tasks.leaving.signal.aborted) await hub.approvals.withdraw(id);
    throw error;
  } finally {
    task.statusMessage = undefined;
  }
}

/** Waits for a server's task. What it asks comes back as required input. */
export function followServer(handle: TaskHandle, exchange: Exchange, core: Core): Promise<Answer> {
  const { capabilities } = exchange.client;
  const leave = core.tasks.leaving.signal;
  return core.parked.run(exchange, async ({ signal, onQuestion }) => {
    try {
      const answer = await handle.answer({ capabilities, leave, signal, onQuestion });
      return await withLinks(completed(answer, exchange.method), handle.server, exchange);
    } catch (error) {
      return completed(failedCall(error), exchange.method);
    }
  });
}

export async function resumeServer(
  exchange: Exchange,
  signal: AbortSignal,
  more: Continuation,
  core: Core,
  server: string,
): Promise<Answer> {
  const own = ownExchange(exchange, signal, more);
  const parked = openState(own, server, core)?.parked;
  if (parked === undefined) throw new Failure(-32_603, "The task cannot go on.");
  return core.parked.resume(parked, own);
}
