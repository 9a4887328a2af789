import { describe, expect, it } from "vitest";
import { declaresMethod, mayPass, methodStanding } from "../../src/lib/protocol-method.ts";

describe("what a method name means to the protocol", () => {
  const spellings = [
    "tools/call",
    "Tools/Call",
    "TOOLS/CALL",
    "tools/call ",
    " tools/call",
    "tools/call\t",
    "tools/call\0",
    "tools/call/",
    "tools//call",
    "/tools/call",
    "./tools/call",
    "acme/../tools/call",
    "tools.call",
    "tools:call",
    "tools_call",
    "toolsCall",
    "tools\\call",
    "tools%2Fcall",
    "tools/call?x",
    "$/tools/call",
    "ｔools/call",
    "tools\u2044call",
    "notifications/tools/call",
    "Notifications/Tools/Call",
    "",
    "/",
  ];

  it.each(spellings)("%j is never somebody's own, as a request or as a notification", (method) => {
    expect(methodStanding(method, "request")).toBe("known");
    expect(methodStanding(method, "notification")).toBe("known");
  });

  it("holds for every method of both eras and both directions", () => {
    for (const method of [
      "initialize",
      "server/discover",
      "tasks/update",
      "tasks/cancel",
      "resources/unsubscribe",
      "completion/complete",
      "logging/setLevel",
      "elicitation/create",
      "notifications/initialized",
      "notifications/tools/list_changed",
      "notifications/tasks/status",
      "codex/sandbox-state/update",
    ]) {
      expect(methodStanding(method, "notification")).toBe("known");
      expect(methodStanding(method.toUpperCase(), "request")).toBe("known");
    }
  });

  it("is a notification and no request, if it says so itself", () => {
    for (const method of ["notifications/acme/said", "Notifications/acme/said"]) {
      expect(methodStanding(method, "request")).toBe("known");
      expect(methodStanding(method, "notification")).toBe("foreign");
    }
  });

  it("is somebody's own outside of the protocol's namespaces", () => {
    for (const method of ["acme/report", "acme/tools/call", "$/progress", "ui/open", "com.acme/x.y"])
      for (const as of ["request", "notification"] as const)
        expect(methodStanding(method, as)).toBe("foreign");
    for (const method of ["tools/validate", "Resources/diff", "tasks.list/all", "notifications/tools/used"])
      expect(methodStanding(method, "notification")).toBe("reserved");
  });

  it("passes from a namespace of the protocol only to those who declare it", () => {
    const declaring = [
      { experimental: { "tools/validate": {} } },
      { extensions: { "com.acme/tools/validate": {} } },
      { extensions: { "com.acme/tools": {} } },
    ];
    for (const capabilities of declaring) {
      expect(mayPass("tools/validate", "request", capabilities)).toBe(true);
      expect(mayPass("tools/call", "request", capabilities)).toBe(false);
    }
    expect(mayPass("tools/validate", "request", {})).toBe(false);
    expect(mayPass("tools/validate", "request", { experimental: { "tools/validate": false } })).toBe(false);
    expect(declaresMethod({ experimental: { "acme/report": {} } }, "acme/report/year")).toBe(true);
    expect(declaresMethod({ experimental: { "acme/report": {} } }, "acme/reports")).toBe(false);
    expect(declaresMethod({ experimental: { acme: {} } }, "notifications/acme/said")).toBe(true);
  });
});
