/** Remote servers, and their authorization servers, that need something else than the login that they ask for. */
const needs: readonly { host: RegExp; says: string }[] = [
  {
    host: /^(?:api\.githubcopilot\.com|github\.com)$/,
    says: "GitHub's server takes a personal access token instead of a login. Store it with `plugboard secret set GITHUB_TOKEN`, and set the server's header `Authorization` to `Bearer ${secret:GITHUB_TOKEN}`.",
  },
];

/** What this server needs instead of a login, if that is known. */
export function knownNeed(host: string): string | undefined {
  return needs.find((one) => one.host.test(host))?.says;
}
