import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFileAtomic } from "../../src/lib/atomic-file.ts";
import type { Held } from "../../src/lib/held.ts";
import { withLease } from "../../src/store/lease.ts";
import type { Lease, Store } from "../../src/store/store.ts";
import type { Subject } from "./contract.ts";
import { temporaryFolder } from "./folder.ts";

const minute = 60_000;

export function leaseContract(name: string, subject: () => Promise<Subject>): void {
  describe(`${name}: leases`, () => {
    test("only one holder at a time, and each has a larger fence", async () => {
      const { store } = await subject();
      const first = await take(store);
      expect(await store.acquireLease("job", { ttlMs: minute })).toBeUndefined();
      expect(await store.acquireLease("other job", { ttlMs: minute })).toBeDefined();
      await first.release();
      await first.release();
      const second = await take(store);
      expect(second.fence).toBeGreaterThan(first.fence);
    });

    test("an expired lease goes to the next holder, and the previous one can neither renew nor release it", async () => {
      const { store, advance } = await subject();
      const first = await take(store);
      advance(minute);
      const second = await take(store);
      expect(second.fence).toBeGreaterThan(first.fence);
      expect(await first.renew()).toBe(false);
      await first.release();
      expect(await store.acquireLease("job", { ttlMs: minute })).toBeUndefined();
      expect(await second.renew()).toBe(true);
    });

    test("a holder that was suspended until its lease expired does not overwrite the next one's file", async () => {
      const { store, advance } = await subject();
      const file = join(temporaryFolder(), "shared");
      const write = (text: string) => (held: Held) => writeFileAtomic(file, text, { mode: 0o600, held });
      const stale = withLease(store, "job", { ttlMs: minute }, async (held) => {
        advance(minute);
        await withLease(store, "job", { ttlMs: minute }, write("new"));
        await write("old")(held);
      });
      await expect(stale).rejects.toMatchObject({
        code: "store-unavailable",
        message: expect.stringContaining("taken over"),
      });
      expect(readFileSync(file, "utf8")).toBe("new");
    });

    test("renewing a lease restarts its time", async () => {
      const { store, advance } = await subject();
      const lease = await take(store);
      advance(minute - 1);
      expect(await lease.renew()).toBe(true);
      advance(minute - 1);
      expect(await store.acquireLease("job", { ttlMs: minute })).toBeUndefined();
      await lease.release();
      expect(await lease.renew()).toBe(false);
    });

    test("waiting ends without a lease after waitMs", async () => {
      const { store } = await subject();
      await take(store);
      expect(await store.acquireLease("job", { ttlMs: minute, waitMs: 15 })).toBeUndefined();
    });

    test("waiting processes get the lease one after the other, with increasing fences", async () => {
      const { store } = await subject();
      const first = await take(store);
      const fences: number[] = [first.fence];
      let holders = 0;
      const waiters = Array.from({ length: 12 }, async () => {
        const lease = await store.acquireLease("job", { ttlMs: minute, waitMs: minute });
        expect(++holders).toBe(1);
        fences.push(lease!.fence);
        await Promise.resolve();
        holders--;
        await lease!.release();
      });
      await first.release();
      await Promise.all(waiters);
      expect(fences).toHaveLength(13);
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    });

    test("waiting can be cancelled, with the reason of the signal", async () => {
      const { store } = await subject();
      await take(store);
      const controller = new AbortController();
      const options = { ttlMs: minute, waitMs: minute, signal: controller.signal };
      const waiting = store.acquireLease("job", options);
      controller.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
      await expect(store.acquireLease("free", options)).rejects.toThrow("enough");
      expect(await store.acquireLease("free", { ttlMs: minute })).toBeDefined();
    });

    test("closing the store ends all waiting, and releasing afterwards is harmless", async () => {
      const { store } = await subject();
      const lease = await take(store);
      const waiting = store.acquireLease("job", { ttlMs: minute, waitMs: minute });
      await store.close();
      await expect(waiting).rejects.toMatchObject({ data: { reason: "closed" } });
      await lease.release();
    });

    test("withLease releases the lease, whether the work succeeds or fails", async () => {
      const { store } = await subject();
      const options = { ttlMs: minute };
      expect(await withLease(store, "job", options, async ({ fence }) => fence)).toEqual(expect.any(Number));
      const failing = withLease(store, "job", options, async () => {
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      await take(store);
    });

    test("withLease fails with a retryable error if the lease is taken, and does not start the work", async () => {
      const { store } = await subject();
      await take(store);
      let begun = false;
      const refused = withLease(store, "job", { ttlMs: minute }, async () => {
        begun = true;
      });
      await expect(refused).rejects.toMatchObject({ code: "store-unavailable", retryable: true });
      expect(begun).toBe(false);
    });

    test("withLease renews while the work goes on, and tells the work when the lease was lost", async () => {
      const { store, advance } = await subject();
      const renewed = Promise.withResolvers<void>();
      const watched: Store = {
        ...store,
        acquireLease: async (lease, options) =>
          watchRenewals(await store.acquireLease(lease, options), renewed.resolve),
      };
      await withLease(watched, "job", { ttlMs: 60 }, async ({ fence, signal }) => {
        await renewed.promise;
        expect(signal.aborted).toBe(false);
        advance(60);
        const other = await store.acquireLease("job", { ttlMs: minute });
        expect(other!.fence).toBeGreaterThan(fence);
        if (!signal.aborted) await once(signal, "abort");
        expect(signal.reason).toMatchObject({ code: "store-unavailable" });
      });
      expect(await store.acquireLease("job", { ttlMs: minute })).toBeUndefined();
    });
  });
}

async function take(store: Store): Promise<Lease> {
  const lease = await store.acquireLease("job", { ttlMs: minute });
  expect(lease).toBeDefined();
  return lease!;
}

function watchRenewals(lease: Lease | undefined, onRenewed: () => void): Lease | undefined {
  if (!lease) return undefined;
  const renew = async () => {
    const kept = await lease.renew();
    onRenewed();
    return kept;
  };
  return { ...lease, renew };
}
