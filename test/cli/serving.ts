import { readFileSync } from "node:fs";
import { expect, onTestFinished, vi } from "vitest";
import { Interrupted } from "../../src/cli/terminal/signals.ts";
import { HttpWire } from "../gateway/clients/http-wire.ts";
import type { ClientOptions, Era } from "../gateway/clients/client.ts";
import { openClient } from "../gateway/clients/open-client.ts";
import type { CliOptions, CliRun, Sandbox } from "../sandbox.ts";

/** `plugboard serve --json` on any free port, until the test is over. */
export async function startServing(box: Sandbox, args: readonly string[] = [], options: CliOptions = {}) {
  const interrupt = new AbortController();
  const started = Promise.withResolvers<string>();
  const streams = { out: "", err: "" };
  const run = box.cli(["serve", "--port", "0", "--json", ...args], {
    ...options,
    signal: interrupt.signal,
    onOut: (out) => {
      streams.out = out;
      if (out.includes("\n")) started.resolve(out);
    },
    onErr: (err) => (streams.err = err),
  });
  const stop = (): Promise<CliRun> => {
    interrupt.abort(new Interrupted("SIGTERM"));
    return run;
  };
  onTestFinished(async () => void (await stop()));
  const early = run.then(({ code, out, err }): never => {
    throw new Error(`serve ended with ${code}: ${out}${err}`);
  });
  early.catch(() => undefined);
  const said = JSON.parse(await Promise.race([started.promise, early])) as {
    url: string;
    tokenFile?: string;
  };
  const token = said.tokenFile === undefined ? undefined : readFileSync(said.tokenFile, "utf8").trim();
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    ...said,
    token,
    stop,
    /** Everything on stderr so far. */
    err: () => streams.err,
    logs: (text: string | RegExp) => vi.waitFor(() => expect(streams.err).toMatch(text), { timeout: 40_000 }),
    open: async (era: Era, client?: ClientOptions) => {
      const opened = await openClient(era, new HttpWire({ url: said.url, headers }), client);
      onTestFinished(() => opened.disconnect());
      return opened;
    },
    post: (body: unknown, own: Record<string, string> = headers) =>
      fetch(said.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...own,
        },
        body: JSON.stringify(body),
      }),
  };
}
