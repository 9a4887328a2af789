import { PlugboardError } from "../errors.ts";
import type { GatewayTokenOptions } from "./gateway-token.ts";
import { keptKey, usableKey } from "./kept-key.ts";

/** What lets a person or a program answer questions about calls over HTTP. */
export interface ApprovalKey {
  key: string;
  /** Where it is stored; absent if it comes from PLUGBOARD_APPROVAL_KEY. */
  file?: string | undefined;
  isNew: boolean;
}

export interface ApprovalKeyOptions extends Omit<GatewayTokenOptions, "renew"> {
  /** What clients show. It must be another one. */
  token?: string | undefined;
}

const keyVariable = "PLUGBOARD_APPROVAL_KEY";

/** The key of those who approve calls over HTTP. Clients never get it. */
export async function approvalKey({ env, file, lock, token }: ApprovalKeyOptions): Promise<ApprovalKey> {
  const given = env[keyVariable];
  if (given !== undefined && given !== "") {
    if (given === token)
      throw new PlugboardError(
        "usage-invalid",
        `${keyVariable} is the clients' token: whoever makes a call could approve it.`,
        { hint: `Set ${keyVariable} to another text, or unset it to use the stored key.` },
      );
    return { key: usableKey(given, keyVariable), isNew: false };
  }
  const what = "The gateway's key for approvals";
  const corruptHint = `Delete ${file}: a new one is made by \`plugboard serve\`.`;
  const unwritableHint = `set ${keyVariable} to a key of your own`;
  const made = await keptKey({ file, lock, what, prefix: "pba", corruptHint, unwritableHint });
  return { ...made, file };
}

/** The key of the hashes in remembered answers. It is not in the state file, so nothing can be tried out on that. */
export async function answerKey({ file, lock }: Pick<ApprovalKeyOptions, "file" | "lock">): Promise<Buffer> {
  const corruptHint = `Delete ${file}: a new one is made, and remembered answers are asked for again.`;
  const { key } = await keptKey({ file, lock, what: "The key of answers", prefix: "pbr", corruptHint });
  return Buffer.from(key.slice("pbr_".length), "base64url");
}

/** The key of what clients carry for us, as bytes. With the same one, that is still good after a restart. */
export async function sealKey({ file, lock }: Pick<ApprovalKeyOptions, "file" | "lock">): Promise<Buffer> {
  const corruptHint = `Delete ${file}: a new one is made by \`plugboard serve\`.`;
  const { key } = await keptKey({ file, lock, what: "The gateway's seal key", prefix: "pbs", corruptHint });
  return Buffer.from(key.slice("pbs_".length), "base64url");
}
