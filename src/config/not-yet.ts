/** Settings that later versions will have, and what works instead today. Accepting them would promise what they do. */
export const notYet: Readonly<Record<string, { message: string; suggestion: string }>> = {
  "gateway.keys": {
    message: "keys of single callers are not supported yet",
    suggestion:
      "remove it; all clients share the gateway's token, and `serve --bundle` narrows down what they reach",
  },
  "gateway.audit": {
    message: "an audit trail is not supported yet",
    suggestion: "remove it; OpenTelemetry records every call (see docs/telemetry.md)",
  },
};

/** True of a store that would be shared over the network. */
export function isRemoteStore(setting: string): boolean {
  return /^\s*[a-z][a-z\d+.-]+:\/\//i.test(setting);
}

export const remoteStore = "a store on Redis or another server is not supported yet";

/** A variable may stand for such a store, and without its value it is the name of a file. */
export const unfilledStore = "references such as `${REDIS_URL}` are not filled in here; write the path";
