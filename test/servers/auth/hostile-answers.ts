import { randomUUID } from "node:crypto";
import type { Fault } from "./faults.ts";
import type { Hostile } from "./hostile.ts";
import type { AuthOptions, Endpoint, Fields } from "./options.ts";

const OVERSIZED_BYTES = 64 * 1024 * 1024;
const SCRIPT = `<script>document.title="pwned"</script><img src=x onerror='alert(1)'>"`;

/** Answers that come from the right place and should still not be believed, followed or shown. */
export const hostileAnswers = {
  "iss-missing": callback("the response lacks the iss that was promised", (response) =>
    response.delete("iss"),
  ),
  "iss-wrong": callback("iss is somebody else", (response) => response.set("iss", "https://honest.example")),
  "iss-trailing-slash": callback("iss has a slash too many", (response) =>
    response.set("iss", `${response.get("iss")}/`),
  ),
  "iss-duplicated": callback("iss is there twice", (response) =>
    response.append("iss", "https://honest.example"),
  ),
  "iss-unannounced": {
    ...callback("a wrong iss that was not promised", (response) =>
      response.set("iss", "https://honest.example"),
    ),
    options: () => ({
      auth: { iss: false, ...altered((response) => response.set("iss", "https://honest.example")) },
    }),
  },
  "iss-wrong-error": denied("an error by somebody else, whose text is not to be shown", (response) =>
    response.set("iss", "https://honest.example"),
  ),
  "error-script": denied("a script in error_description", () => {}),
  "state-missing": callback("the response lacks state", (response) => response.delete("state")),
  "state-wrong": callback("state is another one", (response) => response.set("state", "forged")),
  "state-duplicated": callback("state is there twice", (response) => response.append("state", "forged")),
  "code-duplicated": callback("code is there twice", (response) => response.append("code", "injected")),

  ...redirects("token", "token"),
  ...redirects("register", "registration"),
  ...redirects("metadata", "discovery"),
  "resource-metadata-redirect": onResource("its metadata is at another origin", (elsewhere) => ({
    redirect: { status: 302, to: `${elsewhere}/` },
  })),

  "metadata-oversized": on("metadata", "discovery", "a document of 64 MiB", () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "metadata-looping": on("metadata", "discovery", "a document that is always elsewhere", () => ({
    loop: true,
  })),
  "metadata-not-json": on("metadata", "discovery", "a document that is no JSON", () => ({
    answer: { body: SCRIPT },
  })),
  "metadata-list": on("metadata", "discovery", "a document that is no object", () => ({
    answer: { body: "[]" },
  })),
  "resource-metadata-oversized": onResource("metadata of 64 MiB", () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "resource-metadata-looping": onResource("metadata that is always elsewhere", () => ({ loop: true })),
  "resource-metadata-not-json": onResource("metadata that is no JSON", () => ({ answer: { body: SCRIPT } })),
  "register-oversized": on("register", "registration", "a registration of 64 MiB", () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "token-oversized": on("token", "token", "a token response of 64 MiB", () => ({
    oversizedBytes: OVERSIZED_BYTES,
  })),
  "token-not-json": on("token", "token", "a token response that is no JSON", () => ({
    answer: { body: SCRIPT },
  })),
  "token-error-script": on("token", "token", "a script in the error of the token endpoint", () => ({
    answer: {
      status: 400,
      body: { error: "invalid_request", error_description: SCRIPT, error_uri: "javascript:1" },
    },
  })),
  "token-line-break": token("an access token that would end a header", (body) => ({
    ...body,
    access_token: "a\r\nx-injected: 1",
  })),
  "token-not-ascii": token("an access token that fits in no header", (body) => ({
    ...body,
    access_token: "tökén €",
  })),
  "token-other-type": token("a token of a type nobody asked for", (body) => ({ ...body, token_type: "mac" })),
  "token-long": {
    what: "an access token of 12 kB",
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

function callback(what: string, change: ChangeResponse): Hostile {
  return { what, stopsAt: "callback", options: () => ({ auth: altered(change) }) };
}

function denied(what: string, change: ChangeResponse): Hostile {
  const script = altered((response) => {
    response.set("error_description", SCRIPT);
    response.set("error_uri", "javascript:alert(1)");
    change(response);
  });
  return { what, stopsAt: "callback", options: () => ({ auth: { autoConsent: "deny", ...script } }) };
}

function on(
  endpoint: Endpoint,
  stopsAt: Hostile["stopsAt"],
  what: string,
  fault: (elsewhere: string) => Fault,
): Hostile {
  const options: Hostile["options"] = (elsewhere) => ({ auth: { faults: { [endpoint]: fault(elsewhere) } } });
  return { what, stopsAt, options };
}

function onResource(what: string, fault: (elsewhere: string) => Fault): Hostile {
  const options: Hostile["options"] = (elsewhere) => ({
    mcp: { faults: { "resource-metadata": fault(elsewhere) } },
  });
  return { what, stopsAt: "discovery", options };
}

function redirects<Name extends Endpoint>(
  name: Name,
  stopsAt: Hostile["stopsAt"],
): Record<`${Name}-redirect-${302 | 307 | 308}`, Hostile> {
  const to = (status: 302 | 307 | 308): Hostile =>
    on(name, stopsAt, `a ${status} to another origin in answer to ${name}`, (elsewhere) => ({
      redirect: { status, to: `${elsewhere}/${name}` },
    }));
  return {
    [`${name}-redirect-302`]: to(302),
    [`${name}-redirect-307`]: to(307),
    [`${name}-redirect-308`]: to(308),
  } as Record<`${Name}-redirect-${302 | 307 | 308}`, Hostile>;
}

function token(what: string, change: (body: Fields) => Fields): Hostile {
  return { what, stopsAt: "token", options: () => ({ auth: { alter: { token: change } } }) };
}

function lifetime(expires_in: unknown): Hostile {
  const hostile = token(`expires_in is ${JSON.stringify(expires_in)}`, (body) => ({ ...body, expires_in }));
  return { ...hostile, stopsAt: "through" };
}
