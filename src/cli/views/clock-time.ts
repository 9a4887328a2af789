/** The local time of day with milliseconds: `09:05:12.040`. */
export function clockTime(at: number): string {
  const date = new Date(at);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
