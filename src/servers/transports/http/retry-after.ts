const maxDelayMs = 60_000;
const defaultDelayMs = 1_000;

/**
 * Parses `Retry-After`: seconds or an HTTP date. Returns at most a minute; invalid and past values count as a second,
 * so that the request is never repeated immediately.
 */
export function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? "";
  if (/^\d+(\.\d+)?(e\d+)?$/i.test(text)) return Math.min(Number(text) * 1000, maxDelayMs);
  // An HTTP date begins with a weekday; Date.parse alone would read "-1" as a year.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return defaultDelayMs;
  const delay = Date.parse(text) - now;
  return delay > 0 ? Math.min(delay, maxDelayMs) : defaultDelayMs;
}
