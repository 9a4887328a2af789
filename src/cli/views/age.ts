import { count } from "../terminal/print.ts";

/** `just now`, `5 minutes ago`. */
export function ageWords(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ];
  const [size, unit] = units.find(([least]) => ms >= least) ?? [0, ""];
  return size === 0 ? "just now" : `${count(Math.floor(ms / size), unit)} ago`;
}
