/** True in `npm run test:long`. Whatever imports this file runs there as well. */
export const isLong = process.env["PLUGBOARD_TESTS"] === "long";

/** How often to repeat what chance decides: a few times in `npm test`, many times in `npm run test:long`. */
export const rounds = (few: number, many: number): number => (isLong ? many : few);

/** The first cases, which stand for their kind, in `npm test`; all of them in `npm run test:long`. */
export const firstOf = <T>(count: number, cases: readonly T[]): readonly T[] =>
  isLong ? cases : cases.slice(0, count);
