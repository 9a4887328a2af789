import { createHash } from "node:crypto";

/**
 * Texts with the number of tokens that o200k gives them, counted once with gpt-tokenizer 4.0.0
 * (`countTokens` of `gpt-tokenizer/encoding/o200k_base`). Recorded because a tokenizer is 30 MB to install.
 */
export const tokenSamples: Record<string, { text: string; tokens: number }> = {
  "English prose": { text: english(), tokens: 198 },
  "German prose": { text: german(), tokens: 97 },
  "Russian prose": { text: russian(), tokens: 72 },
  Chinese: { text: chinese(), tokens: 115 },
  Japanese: { text: japanese(), tokens: 100 },
  "compact JSON": { text: JSON.stringify(rows()), tokens: 1631 },
  "indented JSON": { text: JSON.stringify(rows(), null, 2), tokens: 2501 },
  "a tool's schema": { text: JSON.stringify(schema()), tokens: 146 },
  TypeScript: { text: typescript(), tokens: 171 },
  Python: { text: python(), tokens: 148 },
  "a log": { text: log(), tokens: 971 },
  hex: { text: noise(40).toString("hex"), tokens: 1469 },
  base64: { text: noise(60).toString("base64"), tokens: 1752 },
  "base64 of text": { text: Buffer.from(english()).toString("base64"), tokens: 815 },
  UUIDs: { text: uuids(), tokens: 713 },
  paths: { text: paths(), tokens: 329 },
  emoji: { text: "😀🎉👍🏽 ✅ 🚀🔥 ".repeat(30), tokens: 301 },
};

function english(): string {
  return `A server that answers slowly is not the same as one that does not answer at all, and people who wait in
front of a terminal can tell the difference only when somebody tells them. We therefore show what the server said
last, how long it has been quiet, and what would happen next if nothing changed. When the connection breaks in the
middle of a call, the honest report is that we do not know whether the work was done; trying again without asking
could pay an invoice twice. The first version of this program tried again anyway, because its authors believed
that most tools only read. They were right about most tools and wrong about the one that mattered.

Later, after a long afternoon of reading logs, we agreed on a rule that is easy to explain: nothing is repeated
unless it was never sent, or the tool itself promises that a second call does no harm. Everything else is a
question for a person, with enough context to answer it.`;
}

function german(): string {
  return `Wer ein Werkzeug aufruft, möchte wissen, ob es funktioniert hat. Deshalb zeigt das Programm nach jedem Aufruf,
welcher Server geantwortet hat, wie lange es gedauert hat und welche Teile der Antwort zu groß waren. Große Ergebnisse
werden gekürzt, aber nicht weggeworfen: Das vollständige Ergebnis bleibt einen Tag lang erhalten und kann seitenweise
gelesen oder durchsucht werden. Überschreitungen der Grenzwerte werden ausdrücklich gemeldet.`;
}

function russian(): string {
  return `Программа подключает помощников к серверам и показывает, что происходит. Если сервер не отвечает, пользователь
сразу видит причину и следующий шаг. Большие ответы сокращаются, но полный результат сохраняется на сутки, и его можно
читать по страницам или искать в нём нужные строки. Ничего не повторяется без необходимости.`;
}

function chinese(): string {
  return `这个程序把智能助手连接到各种服务器,并且清楚地显示正在发生的事情。如果服务器没有回答,用户会立刻看到原因和下一步应该做什么。
太长的结果会被缩短,但是完整的内容会保存一天,可以一页一页地阅读,也可以搜索其中的某一行。没有必要的时候,任何操作都不会重复执行。
配置文件只需要写一次,在命令行、程序库和网关里的效果完全相同,这就是整个项目的主要想法。`;
}

function japanese(): string {
  return `このプログラムはエージェントをさまざまなサーバーに接続し、何が起きているかをわかりやすく表示します。サーバーが応答しない場合、
利用者はすぐに原因と次の手順を確認できます。長すぎる結果は短くされますが、完全な内容は一日保存され、ページごとに読んだり検索したりできます。`;
}

function rows(): unknown[] {
  return Array.from({ length: 30 }, (_, index) => ({
    id: 1000 + index * 37,
    name: `Customer ${index}`,
    email: `customer${index}@example.com`,
    active: index % 3 !== 0,
    balance: ((index * 7919) % 1000) / 10,
    created: new Date(1_700_000_000_000 + index * 86_413_177).toISOString(),
    tags: ["imported", index % 2 ? "europe" : "asia"],
  }));
}

function schema(): unknown {
  return {
    type: "object",
    properties: {
      query: { type: "string", description: "What to search for. Supports quotes and boolean operators." },
      repository: { type: "string", description: "Limits the search to one repository, as owner/name." },
      state: { type: "string", enum: ["open", "closed", "all"], default: "open" },
      labels: {
        type: "array",
        items: { type: "string" },
        description: "Only issues with all of these labels.",
      },
      page: { type: "integer", minimum: 1, maximum: 100, default: 1 },
      perPage: { type: "integer", minimum: 1, maximum: 100, default: 30, description: "Results per page." },
    },
    required: ["query"],
    additionalProperties: false,
  };
}

function typescript(): string {
  return `export async function loadServers(folder: string, options: LoadOptions = {}): Promise<ServerConfig[]> {
  const files = await readdir(folder, { withFileTypes: true });
  const servers: ServerConfig[] = [];
  for (const file of files) {
    if (!file.isFile() || !file.name.endsWith(".json")) continue;
    const text = await readFile(join(folder, file.name), "utf8");
    const parsed = serverSchema.safeParse(JSON.parse(text));
    if (!parsed.success) {
      options.onProblem?.({ file: file.name, issues: parsed.error.issues });
      continue;
    }
    servers.push({ ...parsed.data, name: basename(file.name, ".json") });
  }
  return servers.sort((a, b) => a.name.localeCompare(b.name));
}
`;
}

function python(): string {
  return `def read_rows(path, delimiter=",", skip_empty=True):
    """Yield every row of a file as a dictionary keyed by the header line."""
    with open(path, newline="", encoding="utf-8") as handle:
        header = None
        for number, line in enumerate(handle, start=1):
            values = [value.strip() for value in line.rstrip("\\n").split(delimiter)]
            if skip_empty and not any(values):
                continue
            if header is None:
                header = values
                continue
            if len(values) != len(header):
                raise ValueError(f"line {number}: expected {len(header)} values, got {len(values)}")
            yield dict(zip(header, values))
`;
}

function log(): string {
  return Array.from(
    { length: 25 },
    (_, index) =>
      `2026-03-11T10:${String(index).padStart(2, "0")}:07.${100 + index * 13}Z INFO [worker-${index % 7}] GET /api/v1/items/${index * 371} finished in ${(index * 17) % 91} ms status=200`,
  ).join("\n");
}

function noise(blocks: number): Buffer {
  return Buffer.concat(
    Array.from({ length: blocks }, (_, block) => createHash("sha256").update(`noise ${block}`).digest()),
  );
}

function uuids(): string {
  const hex = noise(30).toString("hex");
  return Array.from({ length: 30 }, (_, index) =>
    hex.slice(index * 32, index * 32 + 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  ).join("\n");
}

function paths(): string {
  const folders = [
    "src/servers/transports",
    "src/config/formats",
    "test/integration/programs",
    "docs/decisions",
  ];
  const files = [
    "stdio.ts",
    "http-client.ts",
    "claude-desktop.ts",
    "many-writers.test.ts",
    "0007-token-estimates.md",
  ];
  return folders
    .flatMap((folder) => files.map((file) => `/home/user/projects/plugboard/${folder}/${file}`))
    .join("\n");
}
