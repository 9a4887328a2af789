import { describe, expect, it } from "vitest";
import { fastest } from "../processor-time.ts";
import { parseChallenge, wantsNonce } from "../../src/auth/challenge.ts";

describe("what a refusal asks for (WWW-Authenticate)", () => {
  it.each<[string, object]>([
    ["", {}],
    ["Basic realm=x", {}],
    ["Bearer", { dpop: false }],
    ['Bearer scope="read write", error="invalid_token"', { scope: "read write", error: "invalid_token" }],
    ["bearer scope=read,error=insufficient_scope", { scope: "read", error: "insufficient_scope" }],
    ['Basic realm="a, b", Bearer scope=read', { scope: "read", dpop: false }],
    ['DPoP algs="ES256", Bearer scope="read"', { scope: "read", dpop: true }],
    ['Bearer scope="read", scope="write"', { scope: "read" }],
    ['Bearer my_scope="x"', { scope: undefined }],
    ['Bearer error_description="scope=all", scope=read', { scope: "read" }],
    [String.raw`Bearer error_description="say \"scope=all\"", scope=read`, { scope: "read" }],
    ['Bearer scope="never closed', { scope: undefined }],
    ["Bearer =x, ,,= scope", { scope: undefined }],
    ['Bearer resource_metadata="not a url"', { resourceMetadataUrl: undefined }],
    [
      'Bearer resource_metadata="https://a.example/meta"',
      { resourceMetadataUrl: new URL("https://a.example/meta") },
    ],
  ])("%s", (header, expected) => {
    expect(parseChallenge(header)).toMatchObject(expected);
  });

  it.each(["x", "a=", 'a="', "\\", "bearer ", "a ", ","])(
    "takes no time over a header that is nothing but %j",
    async (piece) => {
      const header = `Bearer ${piece.repeat(100_000)}`;
      expect(await fastest(500, () => parseChallenge(header))).toBeLessThan(1_000);
    },
  );

  it.each([
    ['DPoP error="use_dpop_nonce"', true],
    ['Bearer error="invalid_token", DPoP algs="ES256"', false],
    ['Bearer error="use_dpop_nonce"', false],
    ["", false],
  ])("%s: another nonce is wanted: %s", (header, expected) => {
    expect(wantsNonce(header)).toBe(expected);
  });
});
