import { expect, it } from "vitest";
import { GivenUpRequests } from "../../src/servers/rpc/given-up.ts";

it("M80 remembers of a request that was given up who was behind it, and nothing that was part of it", () => {
  const given = new GivenUpRequests();
  const onQuestion = async () => ({});
  const listener = {
    caller: "ann",
    exclusive: true,
    onQuestion,
    answeredBy: onQuestion,
    onNotification() {},
  };
  given.add("p1", listener, 0);
  const [kept] = given.within(0);
  expect(kept).toMatchObject({ caller: "ann", exclusive: true, onQuestion: expect.any(Function) as unknown });
  expect(Object.values(kept ?? {})).not.toContain(onQuestion);
  expect(kept).not.toHaveProperty("onNotification");
});
