import { expect, it } from "vitest";
import { readRawAnswer } from "../../src/servers/rpc/raw-answer.ts";

/** A line over the size from which memory is given back, with all of its memory to itself. */
function line(result: string): Buffer {
  const text = `{"jsonrpc":"2.0","id":"p1","pad":"${"x".repeat(70_000)}","result":${result}}`;
  const bytes = Buffer.alloc(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

it("M80 only a result that lies in the memory of its own line may be freed with it", () => {
  const whole = readRawAnswer(line(`{"content":[]}`), () => true);
  expect(whole?.answer.isAlone).toBe(true);
  // Line breaks are taken out of a copy, whose memory holds other things, too.
  const copied = readRawAnswer(line(`{\r"content":["${"y".repeat(20_000)}"]}`), () => true);
  expect(copied?.answer.isAlone).toBe(false);
});
