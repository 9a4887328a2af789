/**
 * How many times as long the large work takes as the small one. For eight times the input, 8 is linear and 64 quadratic.
 * Each is run several times and its fastest run counts, because other load on the machine only ever adds time. Stops
 * early when the result is below `enough`.
 */
export async function growth(
  small: () => unknown,
  large: () => unknown,
  { enough, runs = 5 }: { enough: number; runs?: number },
): Promise<number> {
  await small();
  let [least, most] = [Infinity, Infinity];
  for (let run = 0; run < runs; run++) {
    least = Math.min(least, await processorTime(small));
    most = Math.min(most, await processorTime(large));
    if (most / least < enough || most > 30_000) break;
  }
  return most / least;
}

/** The least of three runs in milliseconds, or the first below `enoughMs`. */
export async function fastest(enoughMs: number, work: () => unknown): Promise<number> {
  let best = Infinity;
  for (let run = 0; run < 3 && best >= enoughMs; run++) best = Math.min(best, await processorTime(work));
  return best;
}

/** The processor time of this process in milliseconds. Other programs hardly change it, so a busy machine does no harm. */
async function processorTime(work: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
