// The modules that calls need and lists do not, loaded together with the first call.
export { outputDefaults } from "./output/bound-result.ts";
export { callTool } from "./call-tool.ts";
export { checkCall, mayAsk } from "./check-call.ts";
export { forwardCall } from "./forward-call.ts";
export { taskHandle, unknownTask } from "./tasks/task-handle.ts";
export { Validators } from "../catalog/validators.ts";
