import { describe, expect, it, vi } from "vitest";
import { call, forms, openWaiting, sum, waitingQuestion } from "./waiting.ts";
import type { Fields } from "./clients/client.ts";

const other = { ...call, arguments: { a: 40, b: 2 } };
const again = ({ requestState }: Fields) => ({
  ...call,
  requestState,
  inputResponses: { approval: { action: "accept" } },
});

describe("M61 an answer that is remembered", () => {
  it.each(["always", "session"] as const)(
    "counts (%s) from the moment it is given, though its client never comes back",
    async (remember) => {
      await using it = await openWaiting();
      const gateway = await it.start();
      const client = await gateway.connect("modern", forms);
      await client.result(client.once("tools/call", call));
      const { id } = await waitingQuestion(gateway.hub);
      expect(await gateway.hub.approvals.answer(id, { decision: "allow", remember })).toMatchObject({
        remembered: remember,
      });
      expect(await gateway.hub.approvals.list()).toMatchObject([{ tool: "add", remembered: remember }]);
      expect(await client.result(client.once("tools/call", other))).toMatchObject({ resultType: "complete" });
      expect(it.sent()).toHaveLength(1);
    },
  );

  it.each(["always", "session"] as const)(
    "counts (%s) in the process that asked, when another one gave it",
    async (remember) => {
      await using it = await openWaiting();
      const gateway = await it.start();
      const elsewhere = await it.start();
      const client = await gateway.connect("modern", forms);
      await client.result(client.once("tools/call", call));
      const { id } = await waitingQuestion(elsewhere.hub);
      await elsewhere.hub.approvals.answer(id, { decision: "allow", remember });
      await vi.waitFor(
        async () =>
          expect(await client.result(client.once("tools/call", other))).toMatchObject({
            resultType: "complete",
          }),
        { timeout: 10_000 },
      );
      const listed = await gateway.hub.approvals.list();
      expect(listed).toMatchObject([{ tool: "add", remembered: remember }]);
      if (remember === "session") expect(await elsewhere.hub.approvals.list()).toEqual([]);
    },
  );

  it("is not remembered a second time by its client, after it was revoked", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const client = await gateway.connect("modern", forms);
    const state = await client.result(client.once("tools/call", call));
    const { id } = await waitingQuestion(gateway.hub);
    await gateway.hub.approvals.answer(id, { decision: "allow", remember: "always" });
    await gateway.hub.approvals.revoke({ all: true });
    expect(await client.result(client.once("tools/call", again(state)))).toMatchObject(sum);
    expect(await gateway.hub.approvals.list()).toEqual([]);
  });

  it("ends the other questions that it covers, whichever process it was given in", async () => {
    await using it = await openWaiting();
    const gateway = await it.start();
    const elsewhere = await it.start();
    const client = await gateway.connect("modern");
    const first = client.once("tools/call", call);
    const { id } = await waitingQuestion(elsewhere.hub);
    const second = client.once("tools/call", other);
    await vi.waitFor(async () => expect(await elsewhere.hub.approvals.waiting()).toHaveLength(2));
    await elsewhere.hub.approvals.answer(id, { decision: "allow", remember: "always" });
    expect(await client.result(first)).toMatchObject(sum);
    expect(await client.result(second)).toMatchObject({ resultType: "complete" });
  });

  it("for the session of a process that has ended is remembered by the one that its client comes to", async () => {
    await using it = await openWaiting();
    const first = await it.start();
    const before = await first.connect("modern", forms);
    const state = await before.result(before.once("tools/call", call));
    const { id } = await waitingQuestion(first.hub);
    await first.stop();
    const second = await it.start();
    await second.hub.approvals.answer(id, { decision: "allow", remember: "session" });
    const client = await second.connect("modern", forms);
    expect(await client.result(client.once("tools/call", again(state)))).toMatchObject(sum);
    expect(await second.hub.approvals.list()).toMatchObject([{ remembered: "session" }]);
  });
});
