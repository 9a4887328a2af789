import type { TaskProtocol, TaskStatus } from "../../host.ts";
import { isRecord } from "../../lib/record.ts";
import type { Client } from "../exchange.ts";
import { Failure } from "../failure.ts";

const extension = "io.modelcontextprotocol/tasks";
export const relatedTask = "io.modelcontextprotocol/related-task";

/** What modern clients are told that the gateway can do, and clients of 2025-11-25. */
export const taskExtensions = { [extension]: {} };
export const legacyTasks = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

/** How a client can be given a task in place of a result; undefined if it must not get one. */
export function taskWish(client: Client, params: Record<string, unknown>): TaskProtocol | undefined {
  if (client.era === "modern") return declaresTasks(client) ? "extension" : undefined;
  return hasLegacyTasks(client) && isRecord(params["task"]) ? "2025-11-25" : undefined;
}

export function declaresTasks({ capabilities: { extensions } }: Client): boolean {
  return isRecord(extensions) && isRecord(extensions[extension]);
}

/** Only one legacy revision has tasks. */
export function hasLegacyTasks({ revision }: Pick<Client, "revision">): boolean {
  return revision === "2025-11-25";
}

export function missingTasks(): Failure {
  const requiredCapabilities = { extensions: taskExtensions };
  return new Failure(-32_021, `The client has to declare ${extension}.`, { requiredCapabilities });
}

export function tooManyTasks(): Failure {
  return new Failure(-32_603, "There are too many tasks. Cancel some of them, or wait for their end.");
}

/** A task as clients see it. */
export interface ShownTask {
  id: string;
  status: TaskStatus;
  statusMessage?: string | undefined;
  createdAt: number;
  updatedAt: number;
  ttlMs: number;
}

/** How often clients should ask. What they ask about is in this process. */
const pollIntervalMs = 1_000;

export function describeTask(task: ShownTask, protocol: TaskProtocol): Record<string, unknown> {
  const { id, status, statusMessage, createdAt, updatedAt, ttlMs } = task;
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ...(protocol === "extension" ? { ttlMs, pollIntervalMs } : { ttl: ttlMs, pollInterval: pollIntervalMs }),
  };
}
