import { isUtf8 } from "node:buffer";
import { PlugboardError } from "../errors.ts";
import { hasInexactNumbers } from "../lib/exact-numbers.ts";
import { hasDuplicateKeys, jsonMembers, oneLine, parsedBytes } from "../lib/json-members.ts";
import { isRecord } from "../lib/record.ts";
import type { RpcRequest } from "../servers/rpc/messages.ts";
import { copyExact, parseExact, stringifyExact } from "../lib/exact-json.ts";

/**
 * Parameters of a request as the bytes that came and as their value, from one parse, so that what is checked is what is
 * sent. Pass them on instead of the value to keep numbers that JavaScript would change. Do not change either of them.
 */
export class ParsedParams {
  /** The JSON text of one object. */
  readonly bytes: Buffer;
  readonly value: Record<string, unknown>;
  /** What the bytes say. */
  readonly #came: Record<string, unknown>;
  /** True when parsing may have changed a number. */
  readonly #mayDiffer: boolean;

  private constructor(bytes: Buffer, value: Record<string, unknown>, mayDiffer: boolean, came = value) {
    this.bytes = bytes;
    this.value = value;
    this.#mayDiffer = mayDiffer;
    this.#came = came;
  }

  /** Throws `usage-invalid` if the bytes are not one JSON object in UTF-8. They are not copied. */
  static parse(bytes: Buffer): ParsedParams {
    const text = isUtf8(bytes) ? bytes.toString("utf8") : "";
    const value = tryParse(text);
    if (isRecord(value)) return new ParsedParams(bytes, value, changeableNumber.test(text));
    throw new PlugboardError("usage-invalid", "The parameters of a request are one JSON object.");
  }

  /** About how much memory they take. */
  get heldBytes(): number {
    return parsedBytes(this.bytes);
  }

  /** These parameters with other members; `undefined` removes one. The others keep their bytes. */
  with(changes: Record<string, unknown>): ParsedParams {
    const members = Object.entries({ ...this.value, ...changes });
    // Deleting a member would make everything slower that is done with the object.
    const value = copyExact(
      this.value,
      Object.fromEntries(members.filter(([key, member]) => member !== undefined || !(key in changes))),
    );
    return new ParsedParams(this.bytes, value, this.#mayDiffer, this.#came);
  }

  /** The JSON text of a member on one line, if its value has numbers that are not what came. */
  exactText(key: string): string | undefined {
    const member = jsonMembers(this.bytes)?.findLast((one) => one.key === key);
    const text = member && this.bytes.toString("utf8", member.start, member.end);
    return text !== undefined && hasInexactNumbers(text) ? oneLine(text) : undefined;
  }

  /**
   * Writes a request with these parameters, every value that nobody changed as the bytes it came with; undefined where
   * plain JSON says the same. Throws `usage-invalid` where that matters and a key stands twice: it would be checked as
   * one value and read as another.
   */
  writer(): ((request: RpcRequest) => string) | undefined {
    if (!this.#mayDiffer) return undefined;
    if (hasDuplicateKeys(this.bytes))
      throw new PlugboardError("usage-invalid", "A key stands twice in the parameters of the request.");
    return (request) => writeRequest(request, this.bytes, this.#came);
  }
}

function tryParse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Parsing may change a number with many digits, a fraction or an exponent. */
const changeableNumber = /\d{16}|\d[.eE]/;

function writeRequest(request: RpcRequest, bytes: Buffer, value: Record<string, unknown>): string {
  const { id, method, params } = request;
  const written = writeMembers(params, value, bytes, 0, bytes.length);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${written}}`;
}

function writeMembers(
  wanted: Record<string, unknown>,
  came: Record<string, unknown>,
  bytes: Buffer,
  start: number,
  end: number,
): string {
  const places = new Map(jsonMembers(bytes, start, end)?.map((member) => [member.key, member]));
  const members = Object.entries(wanted).flatMap(([key, member]) => {
    const place = places.get(key);
    const original = came[key];
    const text =
      place && typeof member === "object" && member === original
        ? oneLine(bytes.toString("utf8", place.start, place.end))
        : place && isRewritten(key) && isRecord(member) && isRecord(original)
          ? writeMembers(member, original, bytes, place.start, place.end)
          : place && typeof member === "number" && member === original
            ? bytes.toString("utf8", place.start, place.end)
            : member === undefined
              ? undefined
              : stringifyExact(member);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(",")}}`;
}

/** Members into which something may have been filled in, beside what came. */
function isRewritten(key: string): boolean {
  return key === "_meta" || key === "arguments";
}
