import type { Hub } from "../index.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import type { Answer, Exchange } from "./exchange.ts";
import type { Ledger } from "./ledger.ts";
import type { Lineage } from "./lineage.ts";
import type { LogLevels } from "./log-levels.ts";
import type { ParkedCalls } from "./parked-calls.ts";
import type { Seal } from "./seal.ts";
import type { GatewayTasks } from "./tasks/gateway-tasks.ts";

/** What all methods share. */
export interface Core {
  readonly hub: Hub;
  readonly seal: Seal;
  readonly ledger: Ledger;
  readonly parked: ParkedCalls;
  readonly logLevels: LogLevels;
  readonly tasks: GatewayTasks;
  readonly lineage: Lineage;
  /** Aborted when the gateway begins to close: nobody needs to wait for people any more. */
  readonly closing: AbortController;
  readonly telemetry: Telemetry | undefined;
}

/** Answers the requests of one method. What it throws becomes an answer too. */
export type Method = (exchange: Exchange, core: Core) => Promise<Answer> | Answer;
