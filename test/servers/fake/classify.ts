import {
  CAPABILITIES_KEY,
  CLIENT_KEY,
  type Era,
  isFields,
  isModern,
  metaOf,
  paramsOf,
  requestId,
  revisions,
  RpcError,
  VERSION_KEY,
} from "./protocol.ts";
import type { Fields, Script } from "./script.ts";

type Headers = Record<string, string | string[] | undefined>;

/**
 * The era of a message, by the rules of the official server: the envelope in the body decides, over HTTP the headers
 * must agree with it. A legacy-only server knows nothing of envelopes. Throws what such a server would answer.
 */
export function classify(script: Script, message: Fields, headers?: Headers): Era {
  const modern = revisions(script, "modern");
  if (modern.length === 0) return "legacy";
  const versionHeader = text(headers?.["mcp-protocol-version"]);
  const claimed = metaOf(message)[VERSION_KEY];
  const headerIsModern = versionHeader !== undefined && isModern(versionHeader);
  if (claimed === undefined && !headerIsModern) return legacyOrRefuse(script, message, versionHeader);
  if (requestId(message) === undefined) return "modern";
  if (claimed === undefined && message["method"] === "initialize") {
    throw mismatch(
      versionHeader,
      "an initialize request (legacy handshake) was sent with a modern MCP-Protocol-Version header",
    );
  }
  if (claimed === undefined) {
    const meta = paramsOf(message)["_meta"];
    const keys = [VERSION_KEY, CAPABILITIES_KEY];
    const missing = isFields(meta) ? keys.filter((key) => !(key in meta)) : ["_meta"];
    throw new RpcError(
      -32602,
      `Invalid params: the MCP-Protocol-Version header names protocol revision ${versionHeader}, but the request is missing the required per-request envelope key(s): ${missing.join(", ")}`,
      { data: { envelope: { missing } }, status: 400 },
    );
  }
  checkEnvelope(metaOf(message));
  const version = text(claimed) ?? "";
  if (headers !== undefined) checkAgreement(message, version, headers);
  if (!modern.includes(version)) throw unsupported(modern, version);
  if (headers !== undefined) checkRequired(message, version, headers);
  return "modern";
}

function legacyOrRefuse(script: Script, message: Fields, versionHeader: string | undefined): Era {
  if (revisions(script, "legacy").length > 0 || requestId(message) === undefined) return "legacy";
  const params = paramsOf(message);
  const asked = message["method"] === "initialize" ? text(params["protocolVersion"]) : versionHeader;
  throw unsupported(revisions(script, "modern"), asked);
}

function unsupported(supported: string[], requested: string | undefined): RpcError {
  const what = requested ?? "the request did not name a protocol version";
  const data = { supported, ...(requested !== undefined && { requested }) };
  return new RpcError(-32022, `Unsupported protocol version: ${what}`, { data, status: 400 });
}

function mismatch(header: string | undefined, body: string): RpcError {
  return new RpcError(-32020, `Bad Request: the request headers and body disagree: ${body}`, {
    data: { mismatch: { header: header ?? "(missing)", body } },
    status: 400,
  });
}

function checkEnvelope(meta: Fields): void {
  const client = meta[CLIENT_KEY];
  const problems: [string, string | false][] = [
    [VERSION_KEY, typeof meta[VERSION_KEY] !== "string" && "expected a string"],
    [
      CAPABILITIES_KEY,
      meta[CAPABILITIES_KEY] === undefined
        ? "missing"
        : !isFields(meta[CAPABILITIES_KEY]) && "expected an object",
    ],
    [
      CLIENT_KEY,
      client !== undefined && !(isFields(client) && client["name"]) && "expected a name and a version",
    ],
  ];
  for (const [key, problem] of problems) {
    if (problem === false) continue;
    throw new RpcError(
      -32602,
      `Invalid _meta envelope for protocol revision 2026-07-28: ${key}: ${problem}`,
      {
        data: { envelope: { key, problem } },
        status: 400,
      },
    );
  }
}

function checkAgreement(message: Fields, claimed: string, headers: Headers): void {
  const version = text(headers["mcp-protocol-version"]);
  if (version !== undefined && version !== claimed) {
    throw mismatch(
      version,
      `the body envelope names protocol version ${claimed} but the MCP-Protocol-Version header names ${version}`,
    );
  }
  const method = text(headers["mcp-method"]);
  if (method !== undefined && method !== message["method"]) {
    throw mismatch(
      method,
      `the body names method ${String(message["method"])} but the Mcp-Method header names ${method}`,
    );
  }
}

const NAMED: Record<string, string> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

function checkRequired(message: Fields, claimed: string, headers: Headers): void {
  const method = String(message["method"]);
  if (headers["mcp-protocol-version"] === undefined) {
    throw mismatch(
      undefined,
      `the body envelope names protocol version ${claimed} but the required MCP-Protocol-Version header is absent`,
    );
  }
  if (headers["mcp-method"] === undefined) {
    throw mismatch(undefined, `the body names method ${method} but the required Mcp-Method header is absent`);
  }
  const field = NAMED[method];
  const name = field === undefined ? undefined : paramsOf(message)[field];
  if (typeof name !== "string") return;
  const header = text(headers["mcp-name"]);
  const where = `the body carries params.${field}="${name}"`;
  if (header === undefined) throw mismatch(undefined, `${where} but the required Mcp-Name header is absent`);
  const decoded = decodeHeader(header);
  if (decoded === undefined)
    throw mismatch(header, "the Mcp-Name header carries an invalid Base64 sentinel value");
  if (decoded !== name) throw mismatch(header, `${where} but the Mcp-Name header names "${decoded}"`);
}

/** Values that a header cannot carry travel as `=?base64?…?=`. */
function decodeHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() : undefined;
}
