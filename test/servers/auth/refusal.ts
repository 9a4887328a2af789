import { type Answer, json } from "./listener.ts";

/** An error in the words of OAuth. */
export class Refusal extends Error {
  readonly error: string;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(
    error: string,
    description: string,
    options: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(description);
    this.error = error;
    this.status = options.status ?? 400;
    this.headers = options.headers ?? {};
  }

  answer(): Answer {
    return json(this.status, { error: this.error, error_description: this.message }, this.headers);
  }
}

/** The value of a parameter that may be given once. */
export function single(params: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = params.getAll(name);
  if (more.length > 0) throw new Refusal("invalid_request", `${name} is given more than once`);
  return value === "" ? undefined : value;
}

export function required(params: URLSearchParams, name: string): string {
  const value = single(params, name);
  if (value === undefined) throw new Refusal("invalid_request", `${name} is missing`);
  return value;
}
