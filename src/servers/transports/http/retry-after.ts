const longestMs = 60_000;
const fallbackMs = 1_000;

/**
 * How long a server asks us to stay away: seconds or an HTTP date. Never more than a minute, whatever it says;
 * nonsense and the past count as a second, so that nobody repeats at once.
 */
export function retryAfterMs(value: string | undefined, now: number): number {
  const text = value?.trim() ?? "";
  if (/^\d+(\.\d+)?(e\d+)?$/i.test(text)) return Math.min(Number(text) * 1000, longestMs);
  // An HTTP date begins with the day's name; Date.parse alone would take "-1" for a year.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return fallbackMs;
  const delay = Date.parse(text) - now;
  return delay > 0 ? Math.min(delay, longestMs) : fallbackMs;
}
