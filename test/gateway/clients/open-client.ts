import type { ClientOptions, Era, TestClient } from "./client.ts";
import { LegacyClient } from "./legacy-client.ts";
import { ModernClient } from "./modern-client.ts";
import type { Wire } from "./wire.ts";

/** A client of this era that has shaken hands. */
export async function openClient(era: Era, wire: Wire, options?: ClientOptions): Promise<TestClient> {
  const client = era === "modern" ? new ModernClient(wire, options) : new LegacyClient(wire, options);
  await client.open();
  return client;
}
