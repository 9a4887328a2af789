import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Conversations, newConversation } from "../../src/cli/chat/conversations.ts";
import { createMemoryCredentials } from "../../src/auth/credentials.ts";
import { PasteReader } from "../../src/cli/chat/paste.ts";
import { createSandbox } from "../sandbox.ts";
import { chatScene } from "./chat-scene.ts";
import type { ChatLine } from "./chat-scene.ts";

const { lock } = createMemoryCredentials();

describe("M66 conversations that are kept", () => {
  it("keep their earlier turns when one turn is too long, and say so once", async () => {
    const { events, box } = await chatScene([
      { text: "One." },
      { text: "x".repeat(1_200_000) },
      { text: "Three." },
    ]);
    const notices = (run: { events: ChatLine[] }) => run.events.filter(({ type }) => type === "notice");
    const { events: first } = await events(["first"]);
    const long = await events(["second", "--continue"]);
    expect(long.events.at(-1)).toMatchObject({ type: "end", outcome: "done" });
    expect(notices(long)).toEqual([
      {
        type: "notice",
        message:
          "The conversation is too long to be kept whole: without its longest texts, it can be resumed later.",
      },
    ]);
    expect(notices(await events(["third", "--continue"]))).toEqual([]);
    const { messages } = await new Conversations(box.folders.state, lock).load(
      String(first[0]?.["conversation"]),
    );
    expect(messages.map(({ role }) => role)).toEqual(
      "user assistant user assistant user assistant".split(" "),
    );
    expect(JSON.stringify(messages[3])).toContain("more characters were not kept");
  });

  it("are not overwritten by another process that went on with the same one", async () => {
    const box = createSandbox();
    const conversations = new Conversations(box.root, lock);
    const one = newConversation("/somewhere", "m");
    one.messages.push({ role: "user", content: "hello" });
    expect(await conversations.save(one)).toEqual({ isCut: false, isShort: false });
    const other = await conversations.load(one.id);
    one.messages.push({ role: "assistant", content: "from one" });
    other.messages.push({ role: "assistant", content: "from the other" });
    const { id } = one;
    await conversations.save(one);
    const { movedTo = "" } = await conversations.save(other);
    expect(movedTo).not.toBe(id);
    expect((await conversations.load(id)).messages.at(-1)?.content).toBe("from one");
    expect((await conversations.load(movedTo)).messages.at(-1)?.content).toBe("from the other");
    expect(await conversations.save(other)).not.toHaveProperty("movedTo");
  });

  it("go on with the last one that can be read, and name the others", async () => {
    const { chat, box } = await chatScene([{ text: "One." }, { text: "Two." }]);
    await chat(["first"]);
    const damaged = { version: 1, folder: "/", model: "m", at: 1, messages: [{ role: "user", content: 5 }] };
    const file = join(box.folders.state, "chats", "c_aaaaaaaa.json");
    writeFileSync(file, JSON.stringify(damaged));
    const { code, err } = await chat(["--continue", "second"]);
    expect(code).toBe(0);
    expect(err).toContain(`warning: Skipped ${file}, because it cannot be read.`);
  });

  it("lose their beginning, turn by turn, when they are too long to be read again", async () => {
    const box = createSandbox();
    const conversations = new Conversations(box.root, lock);
    const conversation = newConversation("/somewhere", "m");
    for (let turn = 0; turn < 8; turn++)
      conversation.messages.push(
        { role: "user", content: `question ${turn}` },
        { role: "assistant", content: "日".repeat(300_000) },
      );
    await conversations.save(conversation);
    const { messages } = await conversations.load(conversation.id);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(messages.at(-2)).toEqual({ role: "user", content: "question 7" });
  });

  it("are at most a hundred, and a broken one does not hide the others", async () => {
    const box = createSandbox();
    const conversations = new Conversations(box.root, lock);
    const all = Array.from({ length: 103 }, () => newConversation("/somewhere", "m"));
    for (const one of all) await conversations.save({ ...one, messages: [{ role: "user", content: "hi" }] });
    expect(await conversations.list()).toHaveLength(100);
    const [first, second] = await conversations.list();
    writeFileSync(join(box.root, "chats", `${first?.id ?? ""}.json`), "{");
    expect((await conversations.list()).map(({ id }) => id)).toContain(second?.id);
    await expect(conversations.load(first?.id ?? "")).rejects.toMatchObject({ code: "store-unavailable" });
    await expect(conversations.load("../../etc")).rejects.toMatchObject({ code: "usage-invalid" });
  });

  it("remember what was typed, up to a limit, for this user only", async () => {
    const box = createSandbox();
    const conversations = new Conversations(box.root, lock);
    for (let line = 0; line < 60; line++) await conversations.addInput(`${line} ${"x".repeat(10_000)}`);
    await conversations.addInput("two\nlines");
    const file = join(box.root, "chats", "history");
    const before = statSync(file).size;
    expect((await conversations.inputs())[0]).toBe("two\nlines");
    expect(statSync(file).size).toBeLessThan(before / 2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = await conversations.inputs();
    expect(kept.slice(0, 2)).toEqual(["two\nlines", `59 ${"x".repeat(10_000)}`]);
    expect(kept.length).toBeLessThan(30);
  });

  it("go on by the beginning of their id", async () => {
    const { chat, events, model } = await chatScene([{ text: "One." }, { text: "Two." }]);
    const [start] = (await events(["first"])).events;
    const id = String(start?.["conversation"]);
    expect(await chat(["--resume", id.slice(0, 6), "second"])).toMatchObject({ code: 0, out: "Two.\n" });
    expect((await model.request(1)).messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
  });
});

describe("M66 pasted text", () => {
  it("never acts as keys and stays one message, however it arrives", () => {
    const bytes = "a\u001b[200~one\r\ntwo\tthree\u0003\u001b[Afour\u001b[201~\r";
    for (let size = 1; size < bytes.length; size++) {
      const reader = new PasteReader();
      let text = "";
      for (let at = 0; at < bytes.length; at += size) text += reader.read(bytes.slice(at, at + size));
      // A line break that is split in two counts twice.
      expect(text.replace("↵↵", "↵")).toBe("aone↵two  three[Afour\r");
    }
  });
});
