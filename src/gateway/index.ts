import "../lib/require-runtime.ts";

export { createGateway, servingOptions } from "./gateway.ts";
export type { Gateway } from "./gateway.ts";
export type { GatewayNames, GatewayOptions } from "./options.ts";
export type { GatewayLimits } from "./http/limits.ts";
export type { ListenOptions } from "./http/server.ts";
