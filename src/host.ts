/** For programs that carry other programs' calls, such as gateways, adapters and command lines. */
import "./lib/require-runtime.ts";

// Whose hub it is, and what it keeps.
export type { Use } from "./servers/connection-key.ts";
export type { Introduction } from "./servers/server-memory.ts";
export type { Store } from "./store/store.ts";
export type { Credentials } from "./auth/credentials.ts";
export type { Held } from "./lib/held.ts";
export type { Capabilities } from "./servers/rpc/envelope.ts";
export { serverState, serverStates } from "./lib/server-state.ts";
export type { ServerStateName } from "./lib/server-state.ts";
export type { TraceEntry } from "./servers/trace.ts";
export { version } from "./lib/version.ts";
export { runProgram } from "./servers/process/run-program.ts";

// Telemetry.
export type { SentRequest, SentSpan, ServedRequest, TracedAnswer, TracedPeer } from "./lib/telemetry.ts";

// Errors and events.
export { errorTable } from "./errors.ts";
export type { ErrorDetails } from "./errors.ts";
export type {
  ApprovalParked,
  ApprovalRemembered,
  ApprovalRevoked,
  ApprovalSettled,
  AuthChanged,
  AuthEvent,
  CallEnd,
  CallProgress,
  CallStart,
  CatalogChanged,
  ConfigChanged,
  ConnectionChanged,
  ConnectionStateName,
  DisabledReason,
  Emit,
  ErrorSummary,
  IssuerChosen,
  LogLevel,
  QuestionAnswered,
  QuestionAsked,
  QuestionKind,
  ServerLog,
  StartupComplete,
  UrlOpenFailed,
} from "./events.ts";
export { logLevels } from "./events.ts";

// Lists, names and rules.
export type { ListState } from "./hub/view.ts";
export type { ListOptions } from "./catalog/settings.ts";
export type { Audience } from "./catalog/audience.ts";
export type { Naming } from "./catalog/names.ts";
export { toolId } from "./catalog/names.ts";
export type { PromptCommand } from "./catalog/prompts.ts";
export { parsePromptCommand, promptUsage } from "./calls/prompt-command.ts";
export { paramHeaders, paramValue } from "./catalog/param-headers.ts";
export type { ParamHeader } from "./catalog/param-headers.ts";
export { hidingRule } from "./hub/explain-tool.ts";
export type { ApprovalExplanation, ToolExplanation, ToolRule } from "./hub/explain-tool.ts";
export type { PinChange, PinCheckOptions, PinReport } from "./hub/pin-check.ts";
export type { DefinitionFlag } from "./catalog/flags/definition.ts";

// Searching tools instead of listing them.
export { innerCall, innerParams } from "./hub/offer/inner-call.ts";
export { metaNames } from "./hub/offer/meta-definitions.ts";
export type { MetaName, MetaTool } from "./hub/offer/meta-definitions.ts";
export type { MetaCallOptions, MetaNaming } from "./hub/offer/meta-tools.ts";
export type { Deferral } from "./hub/offer/deferral.ts";
export type { ToolSearchSetting } from "./hub/offer/tool-search-setting.ts";

// Passing calls on.
export type { CallCheck } from "./calls/approve.ts";
export type { Cancellation } from "./lib/abortable.ts";
export { inputMistake } from "./calls/input-required.ts";
export { ParsedParams } from "./calls/parsed-params.ts";
export type { JsonRpcAnswer, Progress, RawAnswer } from "./servers/rpc/messages.ts";
export type { ServerNotification } from "./hub/server-notification.ts";
export type { MessageAudience } from "./servers/rpc/message-audience.ts";
export { isModernRevision, legacyRevisions, modernRevision } from "./servers/rpc/revisions.ts";
export type { TaskEntry } from "./calls/tasks/records.ts";
export type { TaskProtocol, TaskState, TaskStatus } from "./calls/tasks/task.ts";

// Results and schemas.
export { mirroredValue } from "./calls/content/mirror.ts";
export { isMedia } from "./calls/content/parts.ts";
export type { ToolResult } from "./calls/content/parts.ts";
export { partToText } from "./calls/content/text.ts";
export { estimateTokens } from "./calls/output/token-estimate.ts";
export { createValidator } from "./catalog/schema/validate.ts";
export type { Mistake, Validator } from "./catalog/schema/validate.ts";

// Questions and approvals.
export type { ApprovalEntry, Approvals, RevokedApprovals } from "./hub/approvals.ts";
export { conditionWords } from "./calls/approvals/words.ts";
export type { AnsweredQuestion, FoundQuestion, Parking } from "./calls/queue/parking.ts";
export type { ApprovalAnswer } from "./calls/queue/answer.ts";
export type { QuestionState } from "./calls/queue/question.ts";
export type {
  DevicePrompt,
  ElicitForm,
  ElicitUrl,
  IssuerChange,
  LoginWays,
  Remembering,
  Root,
  RootsQuestion,
} from "./interact/interact.ts";
export type { Question as ServerQuestion } from "./servers/rpc/inbound.ts";
export type { Asking, Question } from "./interact/questions.ts";
export type { LogoutResult } from "./auth/oauth/logout.ts";
