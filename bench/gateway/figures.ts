import { median } from "../median.ts";

/** What one contender did in one round of one scenario. */
export interface Figures {
  perSecond: number;
  p50Us: number;
  p99Us: number;
  cpuUs: number;
  residentMb: number;
}

/** All rounds of all scenarios. In every round all contenders had their turn under much the same load. */
export class Rounds {
  readonly #rounds = new Map<string, Map<string, Figures[]>>();

  add(scenario: string, contender: string, figures: Figures): void {
    const all = this.#rounds.get(scenario) ?? new Map<string, Figures[]>();
    this.#rounds.set(scenario, all);
    all.set(contender, [...(all.get(contender) ?? []), figures]);
  }

  names(scenario: string): string[] {
    return [...(this.#rounds.get(scenario)?.keys() ?? [])];
  }

  /** The median over the rounds. */
  figure(scenario: string, contender: string, field: keyof Figures): number {
    return median((this.#rounds.get(scenario)?.get(contender) ?? []).map((figures) => figures[field]));
  }

  /** How many times as much, as the median of the ratios of each round. */
  ratio(field: keyof Figures, one: [scenario: string, contender: string], other: [string, string]): number {
    const of = ([scenario, contender]: [string, string]) => this.#rounds.get(scenario)?.get(contender) ?? [];
    const others = of(other);
    return median(of(one).map((figures, round) => figures[field] / (others[round]?.[field] ?? NaN)));
  }

  print(): void {
    for (const [scenario, all] of this.#rounds) {
      row([scenario, "calls/s", "p50 µs", "p99 µs", "CPU µs/call", "RSS MB"]);
      for (const name of all.keys()) {
        const cells = (["perSecond", "p50Us", "p99Us", "cpuUs", "residentMb"] as const).map((field) =>
          this.figure(scenario, name, field).toFixed(0),
        );
        row([`  ${name}`, ...cells]);
      }
    }
  }
}

/** Prints whether a bar is met, and remembers in the exit code if not. */
export function judge(
  what: string,
  value: number,
  direction: "at most" | "at least" | "below",
  bar: number,
): void {
  const isMet = direction === "at least" ? value >= bar : direction === "below" ? value < bar : value <= bar;
  console.log(
    `${isMet ? "met   " : "MISSED"} ${what}: ${value.toFixed(2)} (${direction} ${Number(bar.toFixed(2))})`,
  );
  if (!isMet) process.exitCode = 1;
}

function row([name = "", ...cells]: string[]): void {
  console.log(name.padEnd(44), ...cells.map((cell) => cell.padStart(12)));
}
