/** True for headers that the protocol or the connection decides about, so that nobody else may set them. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return reserved.has(lower) || /^(?:content|mcp|proxy|sec|access-control)-/.test(lower);
}

const reserved = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "dpop",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "origin",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
