/** What somebody sees who has configured nothing yet. */
export const noServersText = `No servers are configured.

  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .
  plugboard import        takes over what other clients on this machine have
`;
