/** True if a JSON text has numbers that JavaScript would change by parsing them: too many digits, or too large. */
export function hasInexactNumbers(json: string): boolean {
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g))
    if (!token.startsWith('"') && isInexact(token)) return true;
  return false;
}

function isInexact(token: string): boolean {
  const held = String(Number(token));
  return held !== token && digitsOf(token) !== digitsOf(held);
}

/** The same text for all ways to write one number. */
function digitsOf(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  if (whole === "") return number;
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
