/** A made-up catalog of any size: services with tools of the usual length, and tasks that need some of them. */
export interface MadeTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

const services = {
  billing: "invoice payment refund subscription discount receipt tax_rate ledger_entry",
  calendar: "event attendee reminder meeting_room availability time_zone recurrence invitation",
  tickets: "issue comment label milestone assignee sprint backlog attachment",
  warehouse: "shipment parcel stock_level pallet supplier reorder_point carrier barcode",
  people: "employee team contract holiday_request salary_band office review skill",
  weather: "forecast station alert temperature rainfall wind_speed tide sunrise",
  documents: "folder page template revision signature export share_link translation",
  servers: "deployment container log_stream certificate dns_record backup firewall_rule metric",
  shop: "product order cart coupon category price review wishlist",
  travel: "flight hotel booking passport_check seat luggage itinerary visa",
} as const;

const verbs: [string, string][] = [
  ["get", "Returns one"],
  ["list", "Lists every"],
  ["create", "Creates a new"],
  ["update", "Changes an existing"],
  ["archive", "Archives an old"],
  ["compare", "Compares two versions of one"],
  ["export", "Writes to a file one"],
  ["count", "Counts how often there is one"],
  ["approve", "Approves a waiting"],
  ["notify_about", "Sends a message about one"],
];

const qualifiers = [
  "",
  "draft",
  "archived",
  "shared",
  "regional",
  "internal",
  "external",
  "monthly",
  "yearly",
  "test",
];

export type ServiceName = keyof typeof services;
export const serviceNames = Object.keys(services) as ServiceName[];

/** The tools of one service in a catalog of `total` tools. The ones that tasks need come first. */
export function toolsOf(service: ServiceName, total: number): MadeTool[] {
  const count = Math.ceil((total - serviceNames.indexOf(service)) / serviceNames.length);
  const tools: MadeTool[] = tasks
    .flatMap(({ steps }) => steps)
    .filter((step) => step.service === service)
    .map(({ tool }) => tool);
  const things = services[service].split(" ");
  for (let round = 0; tools.length < count; round++) {
    for (const qualifier of qualifiers)
      for (const thing of things)
        for (const verb of verbs)
          tools.push(madeTool(service, verb, `${qualifier}${qualifier && "_"}${thing}`, round));
  }
  const seen = new Set<string>();
  return tools.filter(({ name }) => !seen.has(name) && seen.add(name)).slice(0, count);
}

function madeTool(service: string, [verb, says]: [string, string], thing: string, round: number): MadeTool {
  const words = thing.replaceAll("_", " ");
  const version = round === 0 ? "" : `_v${round + 1}`;
  return {
    name: `${verb}_${thing}${version}`,
    description: `${says} ${words} in ${service}. Use it when the user asks about a ${words} and its id is known; otherwise find the id first. Returns the ${words} with its state, its owner and the time of its last change, or an error that says which argument is wrong.`,
    inputSchema: {
      type: "object",
      properties: {
        id: {
          type: "string",
          description: `The id of the ${words}, as other tools of ${service} return it.`,
        },
        workspace: { type: "string", description: "The workspace to look in. Default: that of the user." },
        fields: { type: "array", items: { type: "string" }, description: "Only these fields. Default: all." },
        limit: { type: "integer", minimum: 1, maximum: 100, description: "How many entries at most." },
      },
      required: ["id"],
    },
    annotations: { readOnlyHint: true },
  };
}

interface Step {
  service: ServiceName;
  tool: MadeTool;
  /** What an agent searches for: the service and one capability. */
  query: string;
  args: Record<string, unknown>;
}

/** What somebody wants to have done. */
export interface Task {
  prompt: string;
  steps: Step[];
}

function step(
  service: ServiceName,
  name: string,
  description: string,
  parameters: string[],
  query: string,
): Step {
  const properties = Object.fromEntries(parameters.map((one) => [one, { type: "string" }]));
  const inputSchema = { type: "object", properties, required: parameters };
  const args = Object.fromEntries(parameters.map((one) => [one, `${one}-${name.length}`]));
  return {
    service,
    tool: { name, description, inputSchema, annotations: { readOnlyHint: true } },
    query,
    args,
  };
}

export const tasks: Task[] = [
  {
    prompt:
      "How much is still owed on the invoice, is rain expected when the courier comes, and who can sign for the parcel?",
    steps: [
      step(
        "billing",
        "outstanding_amount",
        "Says how much of an invoice is still unpaid, with interest.",
        ["invoice"],
        "billing: unpaid amount of an invoice",
      ),
      step(
        "weather",
        "hourly_rain",
        "Probability of rain for each hour of a day at a place.",
        ["place", "day"],
        "weather: rain probability by hour",
      ),
      step(
        "warehouse",
        "authorised_recipients",
        "Names the persons who may sign for a parcel.",
        ["parcel"],
        "warehouse: who may sign for a parcel",
      ),
    ],
  },
];
