import { logLevels, modernRevision } from "../host.ts";
import type { ParsedParams } from "../host.ts";
import { isRecord } from "../lib/record.ts";
import { metaKeys } from "./envelope.ts";
import type { Client } from "./exchange.ts";
import { Failure, invalidParams } from "./failure.ts";

/** The revision that a message says it is of; only modern messages say so. */
export function revisionOf(params: ParsedParams): unknown {
  const { _meta: meta } = params.value;
  return isRecord(meta) ? meta[metaKeys.revision] : undefined;
}

/** The sender of one modern request, by what the request says. Throws -32602 or -32022. */
export function modernClient(
  params: ParsedParams,
  { endpoint, caller, sent, transport }: Pick<Client, "endpoint" | "caller" | "sent" | "transport">,
): Client {
  const { _meta: meta } = params.value;
  const said = isRecord(meta) ? meta : {};
  const revision = said[metaKeys.revision];
  if (typeof revision !== "string") throw invalidParams(`\`_meta\` needs ${metaKeys.revision}.`);
  if (revision !== modernRevision) throw unsupportedRevision(revision);
  const capabilities = said[metaKeys.capabilities];
  if (!isRecord(capabilities)) throw invalidParams(`\`_meta\` needs ${metaKeys.capabilities}.`);
  const info = said[metaKeys.client];
  return {
    era: "modern",
    revision,
    caller,
    sent,
    endpoint,
    transport,
    capabilities,
    info: isRecord(info) ? info : undefined,
    logLevel: logLevels.find((level) => level === said[metaKeys.logLevel]),
  };
}

export function unsupportedRevision(requested: string): Failure {
  return new Failure(-32_022, `Unsupported protocol version: ${requested.slice(0, 50)}`, {
    supported: [modernRevision],
    requested: requested.slice(0, 50),
  });
}
