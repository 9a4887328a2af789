export { openAiHostedServer } from "./openai/hosted.ts";
export type { HostedOptions } from "./core/hosted.ts";
export { openAiChatMentions, openAiChatPrompt, openAiChatTools } from "./openai/chat.ts";
export type { OpenAiChatTools } from "./openai/chat.ts";
export { openAiResponsesMentions, openAiResponsesPrompt, openAiResponsesTools } from "./openai/responses.ts";
export type { OpenAiResponsesTools } from "./openai/responses.ts";
export type { SetAside } from "./core/definition.ts";
export type { MessageOptions } from "./core/messages.ts";
export type { AgentOptions, AnswerOptions } from "./core/options.ts";
