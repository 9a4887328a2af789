import { describe, expect, it } from "vitest";
import { lastLines, lastWords } from "../../src/lib/last-words.ts";

const issues = `[\n  {\n    "code": "invalid_type",\n    "expected": "string",\n    "path": [\n      "NOTION_TOKEN"\n    ],\n    "message": "Required"\n  }\n]`;
const frames = "    at Module._load (node:internal/modules/cjs/loader:1341:5)\n    at [eval]:1:1";

describe("M23 the line that explains why a program ended", () => {
  it.each([
    [
      `node:internal/modules/cjs/loader:1568\n  throw err;\n  ^\n\nError: Cannot find module './nope'\nRequire stack:\n- /srv/[eval]\n${frames} {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/srv/[eval]' ]\n}\n\nNode.js v24.1.0\n`,
      "Error: Cannot find module './nope'",
    ],
    [
      `file:///srv/s.mjs:1\nconst = 3\n      ^\n\nSyntaxError: Unexpected token '='\n${frames}\n\nNode.js v24.1.0`,
      "SyntaxError: Unexpected token '='",
    ],
    [
      `\nError: first line\nsecond line\n${frames} {\n  [errors]: [\n    Error: a\n        at [eval]:1:27\n  ]\n}\n\nNode.js v24.1.0`,
      "Error: first line",
    ],
    ['[eval]:1\nthrow "boom"\n^\nboom\n(Use `node --trace-uncaught ...` to show)\n\nNode.js v24.1.0', "boom"],
    ['Traceback (most recent call last):\n  File "s.py", line 1\nValueError: bad', "ValueError: bad"],
    [
      '  File "s.py", line 1\n    x = = 2\n        ^\nSyntaxError: invalid syntax',
      "SyntaxError: invalid syntax",
    ],
    [
      "pydantic.ValidationError: 1 error for Settings\ntoken\n  Field required\n    For more visit https://x.example",
      "pydantic.ValidationError: 1 error for Settings",
    ],
    [
      "panic: no config\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:4 +0x1d\nexit status 2\n",
      "panic: no config",
    ],
    ["thread 'main' panicked at main.rs:2:5:\nno config\nnote: run with `RUST_BACKTRACE=1`", "no config"],
    [
      'Exception in thread "main" a.B: x\n\tat A.b(A.java:3)\nCaused by: java.io.IOException: disk\n\tat C.d(C.java:4)\n\t... 3 more',
      "Caused by: java.io.IOException: disk",
    ],
    [
      "npm error code E404\nnpm error 404 Not Found - GET https://r.example/x\nnpm error 404\nnpm error 404 Note that you can\nnpm error A complete log of this run can be found in: /x.log",
      "npm error 404 Not Found - GET https://r.example/x",
    ],
    [
      "docker: Error response from daemon: denied\n\nRun 'docker run --help' for more",
      "docker: Error response from daemon: denied",
    ],
    ["error: Cannot find module 'x'\n\nBun v1.2.3 (Linux x64)\n", "error: Cannot find module 'x'"],
    ["sh: 1: foo: not found\n", "sh: 1: foo: not found"],
    ["Error: retrying\n    at a (b.js:1:1)\nfatal: no database\n", "fatal: no database"],
    ["\u001b[31mfatal\u001b[0m \u202e\n\n", "fatal \\u{202e}"],
    [
      "Error: No access token was provided. Pass `--access-token`.\nUsage: sentry-mcp --access-token=<token>\n\nCommon optional flags:\n  --host <host>  The host\n\nFor more information, visit https://x.example\n",
      "Error: No access token was provided. Pass `--access-token`.",
    ],
    [
      "s.js [options]\n\nUsage: s.js --key <key>\n\nOptions:\n  --key  The key  [required]\n\nMissing required argument: key\n",
      "Missing required argument: key",
    ],
    ["Error: no database\n\nUsage: s [url]\n  url  error reports go there\n", "Error: no database"],
    [
      "❌ FIGMA_API_KEY is required\nGet one at https://x.example\nThen start again.\n",
      "❌ FIGMA_API_KEY is required",
    ],
    ["error: cache miss\n\nready\ncannot open the database\n", "cannot open the database"],
    ["Error: no token\n\nRead more at https://x.example\n", "Error: no token"],
    [
      `ZodError: ${issues}\n${frames} {\n  issues: [\n    {\n      code: 'invalid_type',\n      path: [ 'NOTION_TOKEN' ],\n    }\n  ]\n}\n\nNode.js v24.1.0\n`,
      "ZodError: NOTION_TOKEN is missing",
    ],
    [`Invalid configuration: ${issues}\n`, "Invalid configuration: NOTION_TOKEN is missing"],
    [
      "[db Error] Stack: Error: connect ECONNREFUSED 127.0.0.1:6379\n    at connect (node:net:1:1)\n[db Retry] 5 of 5\n[db Fatal] Error: Error: no retries left\n[db Fatal] Stack: Error: no retries left\n    at again (a.js:1:1)\n",
      "[db Fatal] Error: Error: no retries left (connect ECONNREFUSED 127.0.0.1:6379)",
    ],
    [
      "promises:394\n    triggerUncaughtException(err);\n    ^\n\n[TypeError: fetch failed] {\n  [cause]: Error: getaddrinfo ENOTFOUND docs.example\n      at look (node:dns:1:1) {\n    errno: -3008,\n    code: 'ENOTFOUND'\n  }\n}\n\nNode.js v24.1.0\n",
      "[TypeError: fetch failed] (getaddrinfo ENOTFOUND docs.example)",
    ],
    [
      "s: error [NO_COMMAND]\n\nProblem: The command is missing.\n\nDetected: no command\n\nFix:\n  Did you mean 'serve'?\n  Usage: s serve\n\nMore help: https://x.example\n",
      "Problem: The command is missing.",
    ],
    [
      "Failed to start: no credentials. Provide them in one of these ways:\n\n1. A variable:\n   export KEYS=/keys.json\n\n2. A file\n\nOriginal error: ENOENT: no such file or directory, open '/keys.json'\n",
      "Failed to start: no credentials. Provide them in one of these ways:",
    ],
    ["Original error: ENOENT: no such file\n", "Original error: ENOENT: no such file"],
    [
      "Invalid environment: { _errors: [], API_KEY: { _errors: [ 'Required' ] }, db: { _errors: [], port: { _errors: [\n  'Not a number' ] } } }\n",
      "Invalid environment: API_KEY is missing; db.port: Not a number",
    ],
    [
      'Invalid environment: {\n  "_errors": [],\n  "API_KEY": {\n    "_errors": [\n      "Required"\n    ]\n  }\n}\n',
      "Invalid environment: API_KEY is missing",
    ],
    [
      "Invalid environment: { formErrors: [], fieldErrors: { API_KEY: [ 'Required' ] } }\n",
      "Invalid environment: API_KEY is missing",
    ],
    [
      "✖ Invalid input: expected string, received undefined\n  → at API_KEY\n✖ Not a number\n  → at db.port\n",
      "API_KEY is missing; db.port: Not a number",
    ],
    [
      "Notes\n\nA server for notes.\nUsage: notes [options] [command]\n\nOptions:\n  -h, --help  display help\n\nCommands:\n  run  Start\n\n  For more information, visit: https://x.example\n",
      "Usage: notes [options] [command]",
    ],
    [
      "npm warn deprecated a@1: use b\nnotes is deprecated.\n\nIt is part of the other tool now.\n\nDocs: https://x.example\n",
      "notes is deprecated.",
    ],
    ["Usage data is sent\nno configuration here\n", "no configuration here"],
    ["starting\nnpm warn deprecated a@1: use b\n", "starting"],
    ["Node.js v24.1.0\n", "Node.js v24.1.0"],
    ["\n\n", ""],
  ])("of %j", (stderr, line) => {
    expect(lastWords(stderr)).toBe(line);
  });

  it("is among the last lines, without stacks and versions", () => {
    const long = `Error: no database\nmore\n  about\n  it\n${frames}\n\nNode.js v24.1.0\n`;
    expect(lastLines(long, 2)).toEqual(["Error: no database", "it"]);
    expect(lastLines("one\ntwo\nthree\n", 2)).toEqual(["two", "three"]);
    expect(lastLines("", 2)).toEqual([]);
  });

  it("is found in time proportional to the text", () => {
    for (const text of [
      "a.".repeat(50_000),
      " ".repeat(100_000),
      `${"x\n".repeat(50_000)}  y`,
      "}".repeat(100_000),
      "[{".repeat(50_000),
      '[{"a":"'.repeat(10_000),
      "{ _errors: [".repeat(10_000),
      "{ a: { _errors: [] }".repeat(5_000),
      "✖ a\n".repeat(20_000),
      "connect E".repeat(10_000),
      `${"error\n".repeat(20_000)}x`,
    ])
      expect(lastWords(text).length).toBeLessThanOrEqual(300);
  });
});
