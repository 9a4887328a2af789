/** Configuration for programs that manage it: reading, editing, explaining and showing it, trust, secrets and stored logins. */
import "./lib/require-runtime.ts";

// One user's configuration and state, as seen from one folder.
export { Workspace } from "./workspace/workspace.ts";
export type { WorkspaceOptions } from "./workspace/workspace.ts";
export type { ConfigHome } from "./config/model.ts";
export type { Environment, Folders } from "./lib/folders.ts";
export type { ApprovalKey } from "./workspace/approval-key.ts";
export type { GatewayToken } from "./workspace/gateway-token.ts";
export { logLine } from "./workspace/logs/recorder.ts";
export type { LogLine } from "./workspace/logs/recorder.ts";
export type { ServerLogs } from "./workspace/logs/server-logs.ts";
export type { KeptWarm } from "./workspace/warm.ts";
export type { KnownFailures } from "./workspace/known-failures.ts";
export type { LastFailure } from "./servers/last-failures.ts";
export type { WarmPlace } from "./hub/options.ts";
export type { WarmProcess } from "./servers/warm/messages.ts";

// What a project has to be trusted with.
export type { KnownContent, ProjectTrust, Review, SettingsReview } from "./workspace/project-trust.ts";
export type { TrustedContent } from "./workspace/trust-records.ts";
export type { ScriptFile, Scripts } from "./config/trust/scripts.ts";

// What is configured.
export type {
  BundleEntry,
  Diagnostic,
  Origin,
  Scope,
  ServerEntry,
  ServerStatus,
  ShadowedEntry,
  Source,
} from "./config/model.ts";
export type { FileLiteral, LiteralServer } from "./config/literal.ts";
export type { ManagedPolicy } from "./config/policy/policy.ts";
export type { ChatSettings } from "./config/chat-schema.ts";
export { configJsonSchema } from "./config/schema.ts";
export type { BundleConfig, Settings } from "./config/schema.ts";

// Reading, checking, comparing and following it.
export { parseConfig } from "./config/parse.ts";
export type { ParsedConfig, ParseOptions } from "./config/parse.ts";
export { expandServer, expandTexts } from "./config/expand.ts";
export { secretFiles } from "./config/secret-files.ts";
export type { SecretSource } from "./config/expand.ts";
export { argumentMistakes } from "./catalog/rule-mistakes.ts";
export { unmatchedPatterns } from "./config/unmatched.ts";
export { assertNoLoop, setLoopsAside, startsPlugboard } from "./config/loops.ts";
export type { LoopContext } from "./config/loops.ts";
export { assertNoLostRule, lostRule, ruleFields } from "./config/lost-rules.ts";
export { diffConfig } from "./config/diff.ts";
export type { ConfigDiff } from "./config/diff.ts";
export { watchConfig } from "./workspace/watch.ts";
export type { ConfigWatch, ConfigWatchOptions } from "./workspace/watch.ts";

// Explaining and showing it.
export { explainServer } from "./config/explain.ts";
export type { ServerExplanation } from "./config/explain.ts";
export { describeOrigin } from "./config/places.ts";
export type { WritableScope } from "./config/places.ts";
export { decidesWhatRuns } from "./config/trust/loader-variables.ts";
export { unpinnedPackage } from "./config/unpinned-package.ts";
export { previewServer } from "./config/preview.ts";
export type { Preview } from "./config/preview.ts";
export { addressOf, hostLine } from "./config/address.ts";
export type { Address } from "./config/address.ts";
export { shownBundle, shownEntry, shownSettings } from "./config/show/fields.ts";
export { shownArgs, shownUrl, shownWord } from "./config/show/references.ts";

// Other clients' files.
export { formats } from "./config/formats/index.ts";
export type { Format, Note } from "./config/formats/format.ts";
export { exportServers, formatById } from "./config/export.ts";
export { findForeignFiles, planImport, readForeignFile } from "./config/import.ts";
export type { ForeignFile, PlannedServer } from "./config/import.ts";
export type { ClientName } from "./config/sync/client-names.ts";
export type { ClientComparison } from "./config/sync/client.ts";
export type { ComparedServer } from "./config/sync/plan.ts";
export type { ClientWiring, WiredFile, WiringOptions } from "./workspace/client-wiring.ts";
export { planBundles } from "./config/import-bundles.ts";
export type { PlannedBundle } from "./config/import-bundles.ts";

// Pinned definitions.
export type { PinApproval } from "./workspace/write-pins.ts";
export type { FieldChange } from "./config/lock/changes.ts";
export type { PinnedPackage, ServerPins } from "./config/lock/pins.ts";

// Secrets and stored logins.
export { literalSecrets, secretOwner } from "./config/literal-secrets.ts";
export type { LiteralSecret } from "./config/literal-secrets.ts";
export { isSecretName, secretName } from "./auth/vault/secrets.ts";
export type { Vault, VaultList, VaultPlace } from "./auth/vault/vault.ts";
export type { StoredCredentials } from "./workspace/stored-credentials.ts";
export type { MovedSecret } from "./workspace/move-secrets.ts";
export type { CredentialUse, KeptCredentials } from "./workspace/kept-credentials.ts";
export { findLogins } from "./auth/oauth/stored-logins.ts";
export type { StoredLogin } from "./auth/oauth/stored-logins.ts";
export { storedAccount } from "./auth/oauth/account.ts";
