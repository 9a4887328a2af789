import { modernRevision } from "../../host.ts";
import type { Method } from "../core.ts";
import { serverInfo } from "../endpoint.ts";
import { gatewaysKey } from "../lineage.ts";
import { isRecord } from "../../lib/record.ts";
import { taskExtensions } from "../tasks/protocols.ts";

export const discover: Method = async ({ client: { endpoint } }, { lineage }) => {
  const { capabilities, ...about } = await endpoint.describe();
  const { extensions } = capabilities;
  return {
    result: {
      resultType: "complete",
      supportedVersions: [modernRevision],
      capabilities: {
        ...capabilities,
        extensions: { ...(isRecord(extensions) && extensions), ...taskExtensions },
      },
      ...about,
      ttlMs: 60_000,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo, [gatewaysKey]: lineage.ids() },
    },
  };
};
