import { logLevels } from "../../host.ts";
import type { Method } from "../core.ts";
import { invalidParams, methodNotFound } from "../failure.ts";

export const setLevel: Method = async ({ client: { session }, params, method }) => {
  if (!session) throw methodNotFound(method);
  const level = logLevels.find((one) => one === params.value["level"]);
  if (level === undefined) throw invalidParams(`\`level\` must be one of ${logLevels.join(", ")}.`);
  await session.setLogLevel(level);
  return { result: {} };
};
