import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/index.ts";
import { openFake, openHub } from "../servers/hub-fixture.ts";
import { HttpWire } from "./clients/http-wire.ts";
import { openClient } from "./clients/open-client.ts";

describe.each(["legacy", "modern"] as const)("M84 headers of a %s client", (era) => {
  it("reach no server but the one that the configuration names, under the name that it gives", async () => {
    await using one = await openFake({});
    await using two = await openFake({});
    const headers = { one: { "X-Theirs": "X-Issues-Token" } };
    await using hub = await openHub(
      { one: { url: one.url }, two: { url: two.url } },
      { keepFresh: true },
      { gateway: { headers } },
    );
    const gateway = createGateway(hub, { token: "t0ken" });
    const { url } = await gateway.listen();
    const sent = { "x-theirs": "mine", cookie: "a=b", "x-forwarded-for": "10.0.0.1", "x-other": "no" };
    const wire = new HttpWire({ url, headers: { authorization: "Bearer t0ken", ...sent } });
    const client = await openClient(era, wire);
    for (const server of ["one", "two"]) await client.result(client.call(`${server}__echo`));
    const seen = (fake: typeof one) =>
      fake.received
        .filter(({ message }) => message?.["method"] === "tools/call")
        .map((request) => request.headers);
    expect(seen(one)).toMatchObject([{ "x-issues-token": "mine" }]);
    for (const received of [...seen(one), ...seen(two)]) {
      const texts = Object.entries(received).map(([name, value]) => `${name}: ${String(value)}`);
      expect(texts.filter((text) => /t0ken|a=b|10\.0\.0\.1|x-other|x-theirs/.test(text))).toEqual([]);
    }
    expect(seen(two)[0]).not.toHaveProperty("x-issues-token");
    await client.close();
    await gateway.close({ drainMs: 0 });
  });
});
