import { describe, expect, it } from "vitest";
import { looksSecret, looksSecretParameter } from "../../src/lib/secret-words.ts";

describe("a name whose value is hidden", () => {
  it.each([
    // variables
    "GITHUB_TOKEN",
    "GH_PAT",
    "PAT",
    "OPENAI_API_KEY",
    "apikey",
    "AWS_SECRET_ACCESS_KEY",
    "PGPASSWORD",
    "SSH_PASSPHRASE",
    "DB_PWD",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "NPM_AUTH",
    "LINKEDIN_COOKIE",
    // options
    "--token",
    "--api-key",
    "--apiKey",
    "--passwd",
    "--client-secret",
    // headers
    "Authorization",
    "proxy-authorization",
    "Cookie",
    "X-Api-Key",
    "X-Auth-Token",
    "X-Client-Secret",
  ])("is %s", (name) => {
    expect(looksSecret(name)).toBe(true);
    expect(looksSecretParameter(name)).toBe(true);
  });

  it.each([
    "PATH",
    "HOME",
    "LANG",
    "COMPAT",
    "--path",
    "--pattern",
    "--verbose",
    "Accept",
    "X-Tenant",
    "MODE",
  ])("is not %s", (name) => {
    expect(looksSecret(name)).toBe(false);
    expect(looksSecretParameter(name)).toBe(false);
  });

  it.each(["code", "sig", "X-Amz-Signature", "access_code"])("is %s in the query of a URL", (name) => {
    expect(looksSecretParameter(name)).toBe(true);
  });

  it.each(["--exit-code", "LANGUAGE_CODE"])("is not %s elsewhere", (name) => {
    expect(looksSecret(name)).toBe(false);
  });
});
