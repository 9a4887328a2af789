/** Which headers of clients reach which server, and under which name. No other header is passed on. */
export type PassedHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What a client sent of those, by server. Printing or serialising this shows none of it. */
export class SentHeaders {
  readonly #byServer: Record<string, Record<string, string>>;
  readonly #text: string;

  constructor(byServer: Record<string, Record<string, string>>) {
    this.#byServer = byServer;
    this.#text = JSON.stringify(byServer);
  }

  get byServer(): Readonly<Record<string, Readonly<Record<string, string>>>> {
    return this.#byServer;
  }

  /** Equal for equal headers. As secret as they are. */
  identity(): string {
    return this.#text;
  }
}

/** The headers that came with a request and reach a server; undefined if there is none. */
export function sentHeaders(
  header: ((name: string) => string | undefined) | undefined,
  passed: PassedHeaders | undefined,
): SentHeaders | undefined {
  if (!passed || !header) return undefined;
  const byServer: [string, Record<string, string>][] = [];
  for (const [server, names] of Object.entries(passed)) {
    const found = Object.entries(names).flatMap(([from, to]) => {
      const value = header(from.toLowerCase());
      return value === undefined ? [] : [[to, value] as const];
    });
    if (found.length > 0) byServer.push([server, Object.fromEntries(found)]);
  }
  return byServer.length > 0 ? new SentHeaders(Object.fromEntries(byServer)) : undefined;
}

/** The names of the headers that reach some server, in lower case. */
export function passedNames(passed: PassedHeaders | undefined): string[] {
  if (!passed) return [];
  return Object.values(passed).flatMap((names) => Object.keys(names).map((name) => name.toLowerCase()));
}

/** True for two requests that send the same. */
export function isSameSent(one: SentHeaders | undefined, other: SentHeaders | undefined): boolean {
  return one?.identity() === other?.identity();
}
