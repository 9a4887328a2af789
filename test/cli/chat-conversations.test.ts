import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Conversations, newConversation } from "../../src/cli/chat/conversations.ts";
import { PasteReader } from "../../src/cli/chat/paste.ts";
import { createSandbox } from "../sandbox.ts";
import { chatScene } from "./chat-scene.ts";

describe("M66 conversations that are kept", () => {
  it("lose their beginning, turn by turn, when they are too long to be read again", async () => {
    const box = createSandbox();
    const conversations = new Conversations(box.root);
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
    const conversations = new Conversations(box.root);
    const all = Array.from({ length: 103 }, () => newConversation("/somewhere", "m"));
    for (const one of all) await conversations.save({ ...one, messages: [{ role: "user", content: "hi" }] });
    expect(await conversations.list()).toHaveLength(100);
    const [first, second] = await conversations.list("/somewhere");
    writeFileSync(join(box.root, "chats", `${first?.id ?? ""}.json`), "{");
    expect((await conversations.list()).map(({ id }) => id)).toContain(second?.id);
    await expect(conversations.load(first?.id ?? "")).rejects.toMatchObject({ code: "store-unavailable" });
    await expect(conversations.load("../../etc")).rejects.toMatchObject({ code: "usage-invalid" });
  });

  it("remember what was typed, up to a limit, for this user only", async () => {
    const box = createSandbox();
    const conversations = new Conversations(box.root);
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
