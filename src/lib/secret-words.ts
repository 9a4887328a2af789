/** Shown instead of a secret value. */
export const hidden = "(hidden)";

const secretWords =
  /token|secret|passw|passphrase|key|auth|credential|cookie|bearer|(?:^|[_-])jwt$|(?:^|[_-])(?:pass|pwd|pin|otp)$|(?:^|[^a-z])pat$/i;

/**
 * True if the value of a variable, option or header with this name is probably a secret. When in doubt, it is: hiding a
 * harmless value costs less than showing a secret.
 */
export function looksSecret(name: string): boolean {
  return secretWords.test(name);
}

/** The same for a URL parameter, where codes and signatures are secrets too. */
export function looksSecretParameter(name: string): boolean {
  return looksSecret(name) || /(code|sig|signature)$/i.test(name);
}

const publicVariables = new Set([
  "HOME",
  "USER",
  "LOGNAME",
  "PWD",
  "PATH",
  "SHELL",
  "LANG",
  "TMPDIR",
  "TERM",
  "TZ",
]);

/** True for variables that every program knows: hiding their values would only make messages unreadable. */
export function isPublicVariable(name: string): boolean {
  return publicVariables.has(name);
}
