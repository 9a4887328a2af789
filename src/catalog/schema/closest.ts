import { wrongType, type Finding, type Run } from "./run.ts";
import { orList, withArticle } from "./wording.ts";

/**
 * A value that matches no alternative was probably meant for one of them. Reports the findings of the closest
 * alternative, or of several if they are equally close.
 */
export function reportClosest(complaints: readonly Finding[][], run: Run): false {
  const level = run.path.length;
  const scores = complaints.map((list) => score(list, level));
  const least = Math.min(...scores);
  const closest = complaints.filter((_, index) => scores[index] === least);
  const [first = []] = closest;
  const isClear = closest.length === 1 && least < wrongType;
  const spoken = isClear ? first : merge(closest);
  if (spoken !== undefined) {
    for (const finding of spoken) if (!run.hasEnough) run.findings.push(finding);
    return false;
  }
  const reasons = closest.slice(0, 4).flatMap(([finding]) => (finding ? [inWords(finding, level)] : []));
  return run.fail(`matches none of ${complaints.length} alternatives: ${orList([...new Set(reasons)])}`);
}

/** A wrong type of the value itself rules an alternative out; a wrong constant inside it nearly does. */
function score(list: readonly Finding[], level: number): number {
  let sum = 0;
  for (const { weight, at } of list) sum += weight === wrongType && at.length > level ? 3 : weight;
  return sum;
}

/** One finding for alternatives that all fail at the same place. */
function merge(closest: readonly Finding[][]): Finding[] | undefined {
  const firsts = closest.flatMap((list) => (list.length === 1 ? list : []));
  const [finding] = firsts;
  if (finding === undefined || firsts.length < closest.length) return undefined;
  const { path, found } = finding.mistake;
  const isAlike = firsts.every(
    ({ mistake }) => mistake.path === path && mistake.found === found && mistake.expected !== undefined,
  );
  if (!isAlike) return undefined;
  const wanted = [...new Set(firsts.flatMap(({ mistake }) => mistake.expected?.split(" or ") ?? []))];
  if (wanted.length === 1) return [finding];
  const ending = found === undefined ? "" : `, but is ${named(found)}`;
  const message = `must be ${orList(wanted.map(named))}${ending}`;
  const suggestion = firsts.find(({ mistake }) => mistake.suggestion !== undefined)?.mistake.suggestion;
  const mistake = { ...finding.mistake, message, expected: orList(wanted) };
  return [{ ...finding, mistake: suggestion === undefined ? mistake : { ...mistake, suggestion } }];
}

function named(word: string): string {
  return /^[a-z]+$/.test(word) ? withArticle(word) : word;
}

function inWords({ mistake, at }: Finding, level: number): string {
  const place = at.slice(level).join(".");
  return place === "" ? mistake.message : `${place} ${mistake.message}`;
}
