/** Waits for an event, for at most `ms`. */
export async function waitAtMost(event: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([event, late]).finally(() => clearTimeout(timer));
}
