import "./lib/require-runtime.ts";

// Start here: a configuration, and all of its servers as one object.
export { loadConfig, Workspace } from "./workspace/workspace.ts";
export type { WorkspaceOptions } from "./workspace/workspace.ts";
export type { ApprovalKey } from "./workspace/approval-key.ts";
export type { GatewayToken } from "./workspace/gateway-token.ts";
export { logLine } from "./workspace/logs/recorder.ts";
export type { LogLine } from "./workspace/logs/recorder.ts";
export type { ServerLogs } from "./workspace/logs/server-logs.ts";
export type { KnownContent, ProjectTrust, Review, SettingsReview } from "./workspace/project-trust.ts";
export type { KeptWarm } from "./workspace/warm.ts";
export type { WarmProcess } from "./servers/warm/messages.ts";
export type { TrustedContent } from "./workspace/trust-records.ts";
export type { ScriptFile, Scripts } from "./config/trust/scripts.ts";
export { createHub } from "./hub/hub.ts";
export type { Hub } from "./hub/hub.ts";
export type { HubOptions, RequestOptions, WarmPlace } from "./hub/options.ts";
export type { ServerNotification } from "./hub/server-notification.ts";
export type { MessageAudience } from "./servers/rpc/message-audience.ts";
export type { ListState, View, ViewOptions } from "./hub/view.ts";
export type { Use } from "./servers/connection-key.ts";
export type { Introduction } from "./servers/server-memory.ts";
export type { ServerReport } from "./servers/server-report.ts";
export { serverState, serverStates } from "./lib/server-state.ts";
export type { ServerStateName } from "./lib/server-state.ts";
export type { TraceEntry } from "./servers/trace.ts";
export type { Store } from "./store/store.ts";
export type { Environment, Folders } from "./lib/folders.ts";
export { version } from "./lib/version.ts";
export type {
  SentRequest,
  SentSpan,
  ServedRequest,
  Telemetry,
  TracedAnswer,
  TracedPeer,
} from "./lib/telemetry.ts";

// What went wrong, and what happens.
export { errorTable, isPlugboardError, PlugboardError } from "./errors.ts";
export type { ErrorCode, ErrorDetails } from "./errors.ts";
export type * from "./events.ts";
export { logLevels } from "./events.ts";

// What servers offer, and using it.
export type { Filter } from "./catalog/filter.ts";
export { toolId } from "./catalog/names.ts";
export type { Naming } from "./catalog/names.ts";
export type { PromptCommand } from "./catalog/prompts.ts";
export type { Audience } from "./catalog/audience.ts";
export { paramHeaders, paramValue } from "./catalog/param-headers.ts";
export type { ParamHeader } from "./catalog/param-headers.ts";
export type { ListedEntry, ListOptions, ToolListOptions } from "./catalog/settings.ts";
export type { FoundTool, SearchOptions } from "./catalog/search.ts";
export type { ToolEntry } from "./catalog/tool-entry.ts";
export type { ApprovalEntry, Approvals, RevokedApprovals } from "./hub/approvals.ts";
export { hidingRule } from "./hub/explain-tool.ts";
export type { ApprovalExplanation, ToolExplanation, ToolRule } from "./hub/explain-tool.ts";
export { conditionWords } from "./calls/approvals/words.ts";
export { innerCall, innerParams } from "./hub/offer/inner-call.ts";
export { isMetaName, metaNames } from "./hub/offer/meta-definitions.ts";
export type { MetaName, MetaTool } from "./hub/offer/meta-definitions.ts";
export type { MetaCallOptions, MetaNaming, MetaTools } from "./hub/offer/meta-tools.ts";
export type { OfferOptions, ToolOffer } from "./hub/offer/tool-offers.ts";
export type { Deferral } from "./hub/offer/deferral.ts";
export type { ToolSearchSetting } from "./hub/offer/tool-search-setting.ts";
export type { CallRecord } from "./calls/call-log.ts";
export type { CallOptions, CallResult } from "./calls/call-tool.ts";
export type { CallCheck } from "./calls/approve.ts";
export type { PromptMessages, ResourceContents } from "./calls/resources.ts";
export type { KeptResult, Selection } from "./calls/results/store.ts";
export type { ForwardOptions } from "./calls/forward-call.ts";
export type { Cancellation } from "./lib/abortable.ts";
export { inputMistake } from "./calls/input-required.ts";
export { ParsedParams } from "./calls/parsed-params.ts";
export type { TaskEntry } from "./calls/tasks/records.ts";
export type { TaskHandle } from "./calls/tasks/task-handle.ts";
export type { TaskProtocol, TaskState, TaskStatus } from "./calls/tasks/task.ts";
export { parsePromptCommand, promptUsage } from "./calls/prompt-command.ts";
export type { JsonRpcAnswer, Progress, RawAnswer } from "./servers/rpc/messages.ts";
export type { Capabilities } from "./servers/rpc/envelope.ts";
export { isModernRevision, legacyRevisions, modernRevision } from "./servers/rpc/revisions.ts";

// Pinned definitions, and what is suspicious in definitions.
export type { PinChange, PinCheckOptions, PinReport } from "./hub/pin-check.ts";
export type { PinApproval } from "./workspace/write-pins.ts";
export type { FieldChange } from "./config/lock/changes.ts";
export type { PinnedPackage, ServerPins } from "./config/lock/pins.ts";
export type { DefinitionFlag } from "./catalog/flags/definition.ts";

// Results for people and models.
export { mediaParts } from "./calls/content/media.ts";
export type { MediaFile } from "./calls/content/media.ts";
export { mirroredValue } from "./calls/content/mirror.ts";
export { contentParts, isMedia } from "./calls/content/parts.ts";
export type { ContentPart, ToolResult } from "./calls/content/parts.ts";
export { contentToText, partToText } from "./calls/content/text.ts";
export { estimateTokens } from "./calls/output/token-estimate.ts";

// Schemas of tools, as model providers want them.
export { compileSchema } from "./catalog/schema/compile/compile.ts";
export type { CompiledSchema, SchemaTarget } from "./catalog/schema/compile/compile.ts";
export { createValidator } from "./catalog/schema/validate.ts";
export type { Mistake, Validator } from "./catalog/schema/validate.ts";

// Answering what servers ask.
export type { AnsweredQuestion, FoundQuestion, Parking } from "./calls/queue/parking.ts";
export type { ApprovalAnswer } from "./calls/queue/answer.ts";
export type { QuestionState, WaitingQuestion } from "./calls/queue/question.ts";
export { Refusal } from "./interact/answers.ts";
export type * from "./interact/interact.ts";
export type { Question as ServerQuestion } from "./servers/rpc/inbound.ts";
export type { Asking, OpenQuestion, Question } from "./interact/questions.ts";

// Logins and secrets.
export type { Credentials } from "./auth/credentials.ts";
export type { Held } from "./lib/held.ts";
export { storedAccount } from "./auth/oauth/account.ts";
export type { Account } from "./auth/oauth/account.ts";
export type { LoginOptions } from "./auth/oauth/login/login.ts";
export type { LogoutResult } from "./auth/oauth/logout.ts";
export { findLogins } from "./auth/oauth/stored-logins.ts";
export type { StoredLogin } from "./auth/oauth/stored-logins.ts";
export type { StoredCredentials } from "./workspace/stored-credentials.ts";
export type { MovedSecret } from "./workspace/move-secrets.ts";
export type { CredentialUse, KeptCredentials } from "./workspace/kept-credentials.ts";
export { openUrl } from "./auth/open-url.ts";
export { isSecretName, secretName } from "./auth/vault/secrets.ts";
export type { Vault, VaultList, VaultPlace } from "./auth/vault/vault.ts";
export type { SecretSource } from "./config/expand.ts";

// Configuration: reading, comparing, following, explaining and showing it.
export type * from "./config/model.ts";
export type { ConfigLiteral, FileLiteral, LiteralServer } from "./config/literal.ts";
export type { ManagedPolicy } from "./config/policy/policy.ts";
export type { ChatSettings } from "./config/chat-schema.ts";
export { configJsonSchema } from "./config/schema.ts";
export type { BundleConfig, Settings } from "./config/schema.ts";
export type { ServerConfig } from "./config/server-schema.ts";
export { literalSecrets, secretOwner } from "./config/literal-secrets.ts";
export type { LiteralSecret } from "./config/literal-secrets.ts";
export { expandServer, expandTexts } from "./config/expand.ts";
export { argumentMistakes } from "./catalog/rule-mistakes.ts";
export { unmatchedPatterns } from "./config/unmatched.ts";
export { parseConfig } from "./config/parse.ts";
export { secretFiles } from "./config/secret-files.ts";
export type { ParsedConfig, ParseOptions } from "./config/parse.ts";
export { assertNoLoop, setLoopsAside } from "./config/loops.ts";
export type { LoopContext } from "./config/loops.ts";
export { assertNoLostRule, lostRule, ruleFields } from "./config/lost-rules.ts";
export { diffConfig } from "./config/diff.ts";
export type { ConfigDiff } from "./config/diff.ts";
export { watchConfig } from "./workspace/watch.ts";
export type { ConfigWatch, ConfigWatchOptions } from "./workspace/watch.ts";
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
export type { ClientComparison } from "./config/sync/client.ts";
export type { ComparedServer } from "./config/sync/plan.ts";
export { planBundles } from "./config/import-bundles.ts";
export type { PlannedBundle } from "./config/import-bundles.ts";
