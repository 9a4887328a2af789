import { vi } from "vitest";

/** How long something that comes by itself may take: on a busy machine much longer than the second of the default. */
const patience = { timeout: 60_000, interval: 50 };

const { waitFor } = vi;

vi.waitFor = (check, options) =>
  waitFor(check, typeof options === "number" ? options : { ...patience, ...options });
