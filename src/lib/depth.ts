/**
 * True if objects and lists stand in each other more than `limit` times. Our own functions, and `JSON.stringify`, call
 * themselves for every level, so what is deeper must not reach them. Never goes deeper than the limit itself.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  return isContainer(value) && reaches(value, limit);
}

/** Every large result comes here, so what is neither object nor list costs no call, and lists no function. */
function reaches(value: object, limit: number): boolean {
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (isContainer(item) && reaches(item, limit - 1)) return true;
    }
    return false;
  }
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (isContainer(member) && reaches(member, limit - 1)) return true;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
