import { randomUUID } from "node:crypto";
import type { Fault } from "./faults.ts";
import type { Hostile } from "./hostile.ts";
import type { AuthOptions, Endpoint, Fields } from "./options.ts";

const OVERSIZED_BYTES = 64 * 1024 * 1024;
const OTHER = "is not from http://127.0.0.1";
const REDIRECT = ["wanted to send the login", "nothing was sent there"];
const LOOP = ["metadata", "HTTP 307", "redirect", "not followed"];
const LONG = ["answered the login", "more than 1 MB"];
const SCRIPT = `<script>document.title="pwned"</script><img src=x onerror='alert(1)'>"`;

/** Answers that come from the right place and should still not be believed, followed or shown. */
export const hostileAnswers = {
  "iss-missing": callback(
    "the response lacks the iss that was promised",
    "does not say who it is from (iss)",
    (response) => response.delete("iss"),
  ),
  "iss-wrong": callback("iss is somebody else", OTHER, (response) =>
    response.set("iss", "https://honest.example"),
  ),
  "iss-trailing-slash": callback("iss has a slash too many", OTHER, (response) =>
    response.set("iss", `${response.get("iss")}/`),
  ),
  "iss-duplicated": callback("iss is there twice", "has iss twice", (response) =>
    response.append("iss", "https://honest.example"),
  ),
  "iss-unannounced": {
    ...callback("a wrong iss that was not promised", OTHER, (response) =>
      response.set("iss", "https://honest.example"),
    ),
    options: () => ({
      auth: { iss: false, ...altered((response) => response.set("iss", "https://honest.example")) },
    }),
  },
  "iss-wrong-error": denied("an error by somebody else, whose text is not to be shown", OTHER, (response) =>
    response.set("iss", "https://honest.example"),
  ),
  "error-script": denied("a script in error_description", "was denied", () => {}),
  "state-missing": callback("the response lacks state", "has no state", (response) =>
    response.delete("state"),
  ),
  "state-wrong": callback("state is another one", "belongs to another login (state)", (response) =>
    response.set("state", "forged"),
  ),
  "state-duplicated": callback("state is there twice", "has state twice", (response) =>
    response.append("state", "forged"),
  ),
  "code-duplicated": callback("code is there twice", "has code twice", (response) =>
    response.append("code", "injected"),
  ),

  ...redirects("token", "token"),
  ...redirects("register", "registration"),
  ...redirects("metadata", "discovery"),
  "resource-metadata-redirect": onResource("its metadata is at another origin", REDIRECT, (elsewhere) => ({
    redirect: { status: 302, to: `${elsewhere}/` },
  })),

  "metadata-oversized": on("metadata", "discovery", "a document of 64 MiB", LONG, () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "metadata-looping": on("metadata", "discovery", "a document that is always elsewhere", LOOP, () => ({
    loop: true,
  })),
  "metadata-not-json": on(
    "metadata",
    "discovery",
    "a document that is no JSON",
    ["metadata of the", "is not JSON"],
    () => ({
      answer: { body: SCRIPT },
    }),
  ),
  "metadata-list": on(
    "metadata",
    "discovery",
    "a document that is no object",
    ["metadata of the", "is not a JSON object"],
    () => ({
      answer: { body: "[]" },
    }),
  ),
  "resource-metadata-oversized": onResource("metadata of 64 MiB", LONG, () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "resource-metadata-looping": onResource("metadata that is always elsewhere", LOOP, () => ({ loop: true })),
  "resource-metadata-not-json": onResource(
    "metadata that is no JSON",
    ["describes its login", "is not JSON"],
    () => ({ answer: { body: SCRIPT } }),
  ),
  "register-oversized": on("register", "registration", "a registration of 64 MiB", LONG, () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "token-oversized": on("token", "token", "a token response of 64 MiB", LONG, () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "token-not-json": on(
    "token",
    "token",
    "a token response that is no JSON",
    ["the exchange of the code", "is not JSON"],
    () => ({
      answer: { body: SCRIPT },
    }),
  ),
  "token-error-script": on(
    "token",
    "token",
    "a script in the error of the token endpoint",
    ["refused the exchange of the code", "invalid_request"],
    () => ({
      answer: {
        status: 400,
        body: { error: "invalid_request", error_description: SCRIPT, error_uri: "javascript:1" },
      },
    }),
  ),
  "token-line-break": token(
    "an access token that would end a header",
    ["access_token", "fits in no header"],
    (body) => ({
      ...body,
      access_token: "a\r\nx-injected: 1",
    }),
  ),
  "token-not-ascii": token(
    "an access token that fits in no header",
    ["access_token", "fits in no header"],
    (body) => ({
      ...body,
      access_token: "tökén €",
    }),
  ),
  "token-other-type": token(
    "a token of a type nobody asked for",
    ["token_type", "nobody asked for"],
    (body) => ({ ...body, token_type: "mac" }),
  ),
  "token-long": {
    what: "an access token of 12 kB",
    says: [],
    stopsAt: "through",
    options: () => ({
      auth: { createToken: (kind) => `${kind}-${randomUUID()}`.padEnd(kind === "access" ? 12_000 : 0, "x") },
    }),
  },
  "token-expires-absent": lifetime(undefined),
  "token-expires-zero": lifetime(0),
  "token-expires-negative": lifetime(-1),
  "token-expires-text": lifetime("3600"),
  "token-expires-huge": lifetime(1e12),
} satisfies Record<string, Hostile>;

type ChangeResponse = (response: URLSearchParams) => unknown;

function altered(change: ChangeResponse): AuthOptions {
  const authorization = (response: URLSearchParams): URLSearchParams => {
    change(response);
    return response;
  };
  return { alter: { authorization } };
}

function callback(what: string, why: string, change: ChangeResponse): Hostile {
  const says = [why, "it was not used"];
  return { what, says, stopsAt: "callback", options: () => ({ auth: altered(change) }) };
}

function denied(what: string, why: string, change: ChangeResponse): Hostile {
  const script = altered((response) => {
    response.set("error_description", SCRIPT);
    response.set("error_uri", "javascript:alert(1)");
    change(response);
  });
  const options = () => ({ auth: { autoConsent: "deny" as const, ...script } });
  return { what, says: [why], stopsAt: "callback", options };
}

function on(
  endpoint: Endpoint,
  stopsAt: Hostile["stopsAt"],
  what: string,
  says: readonly string[],
  fault: (elsewhere: string) => Fault,
): Hostile {
  const options: Hostile["options"] = (elsewhere) => ({ auth: { faults: { [endpoint]: fault(elsewhere) } } });
  return { what, says, stopsAt, options };
}

function onResource(what: string, says: readonly string[], fault: (elsewhere: string) => Fault): Hostile {
  const options: Hostile["options"] = (elsewhere) => ({
    mcp: { faults: { "resource-metadata": fault(elsewhere) } },
  });
  return { what, says, stopsAt: "discovery", options };
}

function redirects<Name extends Endpoint>(
  name: Name,
  stopsAt: Hostile["stopsAt"],
): Record<`${Name}-redirect-${302 | 307 | 308}`, Hostile> {
  const to = (status: 302 | 307 | 308): Hostile =>
    on(
      name,
      stopsAt,
      `a ${status} to another origin in answer to ${name}`,
      [`HTTP ${status}`, ...REDIRECT],
      (elsewhere) => ({
        redirect: { status, to: `${elsewhere}/${name}` },
      }),
    );
  return {
    [`${name}-redirect-302`]: to(302),
    [`${name}-redirect-307`]: to(307),
    [`${name}-redirect-308`]: to(308),
  } as Record<`${Name}-redirect-${302 | 307 | 308}`, Hostile>;
}

function token(what: string, says: readonly string[], change: (body: Fields) => Fields): Hostile {
  return { what, says, stopsAt: "token", options: () => ({ auth: { alter: { token: change } } }) };
}

function lifetime(expires_in: unknown): Hostile {
  const hostile = token(`expires_in is ${JSON.stringify(expires_in)}`, [], (body) => ({
    ...body,
    expires_in,
  }));
  return { ...hostile, stopsAt: "through" };
}
