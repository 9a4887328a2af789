import "./lib/require-runtime.ts";

// Start here: a configuration, and all of its servers as one object.
export { createHub } from "./hub/hub.ts";
export type { Hub } from "./hub/hub.ts";
export type { HubOptions } from "./hub/options.ts";
export type { View, ViewOptions } from "./hub/view.ts";
export { loadConfig } from "./workspace/workspace.ts";
export type { LoadedConfig } from "./config/model.ts";
export type { ConfigLiteral } from "./config/literal.ts";
export type { ServerConfig } from "./config/server-schema.ts";
export type { ServerReport } from "./servers/server-report.ts";
export type { Telemetry } from "./lib/telemetry.ts";

// What went wrong, and what happens.
export { isPlugboardError, PlugboardError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
export type { EventOf, EventType, PlugboardEvent } from "./events.ts";

// What servers offer, and using it.
export type { ToolEntry } from "./catalog/tool-entry.ts";
export type { ListedEntry, ToolListOptions } from "./catalog/settings.ts";
export type { Filter } from "./catalog/filter.ts";
export type { FoundTool, SearchOptions } from "./catalog/search.ts";
export type { CallOptions, CallResult } from "./calls/call-tool.ts";
export type { CallRecord } from "./calls/call-log.ts";
export type { ForwardOptions } from "./calls/forward-call.ts";
export type { RequestOptions } from "./hub/options.ts";
export type { PromptMessages, ResourceContents } from "./calls/resources.ts";
export type { KeptResult, Selection } from "./calls/results/store.ts";
export type { TaskHandle } from "./calls/tasks/task-handle.ts";

// What a model is shown.
export { isMetaName } from "./hub/offer/meta-definitions.ts";
export type { MetaTools } from "./hub/offer/meta-tools.ts";
export type { OfferOptions, ToolOffer } from "./hub/offer/tool-offers.ts";
export { compileSchema } from "./catalog/schema/compile/compile.ts";
export type { CompiledSchema, SchemaTarget } from "./catalog/schema/compile/compile.ts";

// Results for people and models.
export { contentParts } from "./calls/content/parts.ts";
export type { ContentPart } from "./calls/content/parts.ts";
export { contentToText } from "./calls/content/text.ts";
export { mediaParts } from "./calls/content/media.ts";
export type { MediaFile } from "./calls/content/media.ts";

// Answering what servers ask.
export type {
  Approval,
  ApproveQuestion,
  ElicitAnswer,
  ElicitQuestion,
  Interact,
  LogInQuestion,
  SampleQuestion,
} from "./interact/interact.ts";
export type { OpenQuestion } from "./interact/questions.ts";
export type { WaitingQuestion } from "./calls/queue/question.ts";
export { Refusal } from "./interact/answers.ts";

// Logins.
export type { LoginOptions } from "./auth/oauth/login/login.ts";
export type { Account } from "./auth/oauth/account.ts";
export { openUrl } from "./auth/open-url.ts";
