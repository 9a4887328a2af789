/** What a bearer check has to say (RFC 6750, RFC 9728), by parameter. */
export type ChallengeFields = Record<string, string | undefined>;

/**
 * How a protected server words its 401 and 403: `bearer` is right; `bare` names nothing but the scheme; `several` puts
 * other schemes around it in one header, `lines` in headers of their own; `decoy` adds another scheme whose metadata
 * is not to be followed; `malformed` cannot be parsed; `none` is a status without the header.
 */
export type ChallengeStyle = "bearer" | "bare" | "several" | "lines" | "decoy" | "malformed" | "none";

export function challenge(style: ChallengeStyle, fields: ChallengeFields): string[] {
  const parameters = Object.entries(fields).filter(([, value]) => value !== undefined);
  const bearer = `Bearer ${parameters.map(([name, value]) => `${name}="${escape(value ?? "")}"`).join(", ")}`;
  const others = ['Basic realm="a, Bearer b=\\"c\\""', "Negotiate"];
  const styles: Record<ChallengeStyle, string[]> = {
    bearer: [bearer],
    bare: ["Bearer"],
    several: [[others[0], bearer, others[1]].join(", ")],
    lines: [...others, bearer],
    decoy: [`Mystery resource_metadata="https://decoy.example/", ${bearer}`],
    malformed: ['Bearer resource_metadata="http://127.0.0.1:1/, scope=, =,'],
    none: [],
  };
  return styles[style];
}

function escape(value: string): string {
  return value.replaceAll(/["\\]/g, String.raw`\$&`);
}
