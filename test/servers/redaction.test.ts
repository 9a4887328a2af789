import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../src/errors.ts";
import { Redaction } from "../../src/servers/redaction.ts";
import { fastest } from "../processor-time.ts";

const token = "mzQ8vX2kLp09RtYwBn4cTh7e";
const hide = (secrets: string[], text: string) => new Redaction(secrets).text(text);

describe("what a server says, without the secrets that it was sent", () => {
  it.each([
    ["info", "more information at level info: info.", "more information at level (hidden): (hidden)."],
    ["1234", "port 12345, code 1234", "port 12345, code (hidden)"],
    ["hunter2", "login ada:hunter2 failed for hunter22", "login ada:(hidden) failed for hunter22"],
    ["abc", "abc", "abc"],
    ["correct horse battery", "said 'correct horse battery' twice", "said '(hidden)' twice"],
  ])("hides %j only where it stands alone", (secret, text, shown) => {
    expect(hide([secret], text)).toBe(shown);
  });

  it("hides a token whole, of which a part is known by itself", () => {
    const whole = "s3cr/et+value&99";
    for (const text of [whole, encodeURIComponent(whole)])
      expect(hide([whole, "et+value"], `got ${text} here`)).toBe("got (hidden) here");
  });

  it.each([
    ["whole", `x${token}y`, "x(hidden)y"],
    ["its beginning", `got ${token.slice(0, 12)}…`, "got (hidden)…"],
    ["its end", `…${token.slice(-13)}!`, "…(hidden)!"],
    ["its middle", `…${token.slice(3, 17)}…`, "…(hidden)…"],
    ["twice, next to each other", `${token}${token} ${token}`, "(hidden) (hidden)"],
    ["overlapping itself", `${token.slice(0, 20)}${token.slice(6)}`, "(hidden)"],
    ["after its scheme", `Bearer ${token}`, "Bearer (hidden)"],
    ["not what is too short to matter", `${token.slice(0, 11)}…`, `${token.slice(0, 11)}…`],
  ])("hides a token anywhere: %s", (_, text, shown) => {
    expect(hide([`Bearer ${token}`], text)).toBe(shown);
  });

  it("finds every fragment of twelve characters", () => {
    for (let at = 0; at + 12 <= token.length; at++)
      expect(hide([token], `<${token.slice(at, at + 12)}>`)).toBe("<(hidden)>");
  });

  it("hides encoded forms, cookies and passwords", () => {
    const secret = 'a/b+c"d1234567890';
    expect(hide([secret], encodeURIComponent(secret))).toBe("(hidden)");
    expect(hide([secret], JSON.stringify({ secret }))).toBe('{"secret":"(hidden)"}');
    expect(hide([`a=${token}; b=swordfish`], `${token} swordfish`)).toBe("(hidden) (hidden)");
    const basic = Buffer.from("ada:swordfish").toString("base64");
    expect(hide([`Basic ${basic}`], `ada gave swordfish as ${basic}`)).toBe("ada gave (hidden) as (hidden)");
  });

  it("leaves words of a long text alone, in whatever way the text is encoded", () => {
    const settings = JSON.stringify({ steps: [{ elicitations: [{ url: "https://login.example/1" }] }] });
    const text = "the elicitations of https://login.example/1";
    expect(hide([settings], text)).toBe(text);
    expect(hide([settings], `got ${encodeURIComponent(settings)}`)).toBe("got (hidden)");
  });

  it("keeps an error without secrets, and rebuilds one with secrets in any place", () => {
    const redaction = new Redaction([token]);
    const clean = new PlugboardError("server-error", "no", {
      data: { a: [1, "b"] },
      cause: new Error("why"),
    });
    expect(redaction.error(clean)).toBe(clean);
    const places = [
      new PlugboardError("server-error", `no ${token}`),
      new PlugboardError("server-error", "no", { data: { deep: [{ [token]: 1 }] } }),
      new PlugboardError("server-error", "no", { cause: new Error("x", { cause: new Error(token) }) }),
      new PlugboardError("server-error", "no", { cause: new AggregateError([new Error(token)]) }),
      new PlugboardError("server-error", "no", { cause: Object.assign(new Error("x"), { header: token }) }),
    ];
    for (const error of places) {
      const shown = redaction.error(error) as PlugboardError;
      expect(shown).not.toBe(error);
      expect([shown.code, shown.cause, JSON.stringify([shown.message, shown.data])]).not.toContain(token);
    }
  });

  it("does not depend on how many tokens there are, nor on how they repeat themselves", async () => {
    const text = "The upstream request failed, please retry. ".repeat(10);
    const cost = async (redaction: Redaction, said: string, rounds: number) => {
      redaction.text(said);
      return fastest(0, () => {
        for (let round = 0; round < rounds; round++) redaction.text(said);
      });
    };
    const tokens = Array.from({ length: 32 }, () => randomBytes(900).toString("base64url"));
    const one = await cost(new Redaction(tokens.slice(0, 1)), text, 2_000);
    const many = await cost(new Redaction(tokens), text, 2_000);
    // It was a factor of more than a thousand.
    expect(many / one).toBeLessThan(20);
    const repetitive = new Redaction([`1${"a".repeat(16_000)}`]);
    const short = await cost(repetitive, "aaaaaaaa ".repeat(700), 3);
    const long = await cost(repetitive, "aaaaaaaa ".repeat(7_000), 3);
    expect(long / short).toBeLessThan(60);
  });
});
