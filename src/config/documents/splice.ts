import type { Path } from "./document.ts";

export function splice(text: string, start: number, length: number, insertion: string): string {
  return text.slice(0, start) + insertion + text.slice(start + length);
}

export function nest(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, step) => ({ [step]: inner }), value);
}
