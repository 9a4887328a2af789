import { commandList } from "../command-fields.ts";
import type { EntryShape } from "../entry.ts";
import { spellOutVariables } from "../environment.ts";
import {
  disabled,
  duration,
  either,
  enabled,
  nested,
  readOnly,
  record,
  type Rules,
  text,
} from "../fields.ts";
import { callbackPort, noLogin, scopeText } from "../oauth-fields.ts";
import { transport } from "../transport.ts";
import { opencodeVariables } from "../variables.ts";

const inBothVersions: Rules = {
  type: transport({ stdio: "local", http: "remote", sse: "remote" }),
  command: commandList,
  cwd: text("cwd"),
  environment: record("env"),
  url: text("url"),
  headers: record("headers"),
};

const isFalse = (value: unknown) => value === false;

export const firstVersion: EntryShape = {
  variables: opencodeVariables,
  remote: "http",
  fields: {
    ...inBothVersions,
    enabled,
    timeout: duration("callTimeoutMs", "milliseconds"),
    oauth: either(
      isFalse,
      noLogin,
      nested({
        clientId: text("oauth.clientId"),
        clientSecret: text("oauth.clientSecret"),
        scope: scopeText,
        callbackPort,
      }),
    ),
  },
  beforeWrite: spellOutVariables,
};

export const secondVersion: EntryShape = {
  variables: opencodeVariables,
  remote: "http",
  fields: {
    ...inBothVersions,
    disabled,
    timeout: nested({
      startup: duration("startupTimeoutMs", "milliseconds"),
      request: duration("callTimeoutMs", "milliseconds"),
      execution: readOnly(duration("callTimeoutMs", "milliseconds")),
    }),
    oauth: either(
      isFalse,
      noLogin,
      nested({
        client_id: text("oauth.clientId"),
        client_secret: text("oauth.clientSecret"),
        scope: scopeText,
        callback_port: callbackPort,
      }),
    ),
  },
  beforeWrite: spellOutVariables,
};
