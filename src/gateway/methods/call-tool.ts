import type { Method } from "../core.ts";
import { calledTool } from "../called-tool.ts";
import { callAsTask } from "../tasks/call-as-task.ts";

export const callTool: Method = async (exchange, core) => {
  const found = calledTool(exchange, core);
  // Most calls need not wait here.
  const { server, wish, call } = found instanceof Promise ? await found : found;
  return wish ? callAsTask(exchange, core, { server, wish, call }) : call(exchange);
};
