/** What the node of actions shows. */
import type { INodeProperties } from "n8n-workflow"

const when = (operations: string[], resource: string) => ({ show: { resource: [resource], operation: operations } })

const CONDITIONS = [
  { name: "Contains", value: "contains" },
  { name: "Equals", value: "eq" },
  { name: "Is Empty", value: "empty" },
  { name: "Is Greater", value: "gt" },
  { name: "Is Greater or Equal", value: "ge" },
  { name: "Is Less", value: "lt" },
  { name: "Is Less or Equal", value: "le" },
  { name: "Is Not Empty", value: "notempty" },
  { name: "Is Not Equal", value: "ne" },
]

const eventProperties: INodeProperties[] = [
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: { show: { resource: ["event"] } },
    options: [
      { name: "Get", value: "get", action: "Get an event", description: "Get an event with its row and deliveries" },
      { name: "Send", value: "send", action: "Send an event", description: "Send an event to an intake address" },
    ],
    default: "send",
  },
  {
    displayName: "Event ID",
    name: "eventId",
    type: "string",
    default: "",
    required: true,
    displayOptions: when(["get"], "event"),
  },
  {
    displayName: "Intake Address",
    name: "intakeUrl",
    type: "string",
    typeOptions: { password: true },
    default: "",
    required: true,
    placeholder: "https://data.example.com/webhook/…",
    description: "The intake address of the source. Keep it secret: anyone who has it can send",
    displayOptions: when(["send"], "event"),
  },
  {
    displayName: "Content",
    name: "content",
    type: "options",
    options: [
      { name: "Defined Below", value: "json" },
      { name: "Input Item", value: "item" },
    ],
    default: "item",
    displayOptions: when(["send"], "event"),
  },
  {
    displayName: "JSON",
    name: "json",
    type: "json",
    default: "{}",
    required: true,
    displayOptions: { show: { resource: ["event"], operation: ["send"], content: ["json"] } },
  },
]

const rowProperties: INodeProperties[] = [
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: { show: { resource: ["row"] } },
    options: [
      { name: "Export", value: "export", action: "Export rows", description: "Write rows into a file" },
      { name: "Get Many", value: "getAll", action: "Get many rows", description: "Get rows of a table or a view" },
    ],
    default: "getAll",
  },
  {
    displayName: "Table Name or ID",
    name: "table",
    type: "options",
    typeOptions: { loadOptionsMethod: "getTables" },
    default: "",
    required: true,
    description:
      'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
    displayOptions: when(["getAll", "export"], "row"),
  },
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    default: false,
    description: "Whether to return all results or only up to a given limit",
    displayOptions: when(["getAll"], "row"),
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: { minValue: 1 },
    default: 50,
    description: "Max number of results to return",
    displayOptions: { show: { resource: ["row"], operation: ["getAll"], returnAll: [false] } },
  },
  {
    displayName: "Format",
    name: "format",
    type: "options",
    options: [
      { name: "CSV", value: "csv" },
      { name: "NDJSON", value: "ndjson" },
    ],
    default: "csv",
    displayOptions: when(["export"], "row"),
  },
  {
    displayName: "Put Output File in Field",
    name: "binaryProperty",
    type: "string",
    default: "data",
    required: true,
    hint: "The name of the output binary field to put the file in",
    displayOptions: when(["export"], "row"),
  },
  {
    displayName: "Filters",
    name: "filters",
    type: "fixedCollection",
    typeOptions: { multipleValues: true },
    placeholder: "Add filter",
    default: {},
    displayOptions: when(["getAll", "export"], "row"),
    options: [
      {
        displayName: "Filter",
        name: "filter",
        values: [
          { displayName: "Column", name: "column", type: "string", default: "" },
          { displayName: "Condition", name: "condition", type: "options", options: CONDITIONS, default: "eq" },
          { displayName: "Value", name: "value", type: "string", default: "" },
        ],
      },
    ],
  },
  {
    displayName: "Options",
    name: "options",
    type: "collection",
    placeholder: "Add option",
    default: {},
    displayOptions: when(["getAll", "export"], "row"),
    options: [
      {
        displayName: "Columns",
        name: "columns",
        type: "string",
        default: "",
        placeholder: "customer,total",
        description: "Only these columns, in this order, separated by commas",
      },
      {
        displayName: "Direction",
        name: "direction",
        type: "options",
        options: [
          { name: "Ascending", value: "asc" },
          { name: "Descending", value: "desc" },
        ],
        default: "asc",
      },
      {
        displayName: "Match",
        name: "match",
        type: "options",
        options: [
          { name: "All Filters", value: "and" },
          { name: "Any Filter", value: "or" },
        ],
        default: "and",
      },
      {
        displayName: "Safe for Spreadsheets",
        name: "safe",
        type: "boolean",
        default: false,
        description: "Whether to put an apostrophe before texts of a CSV file that a spreadsheet would run as formulas",
      },
      {
        displayName: "Search",
        name: "search",
        type: "string",
        default: "",
        description: "Only rows in which any column contains this text",
      },
      { displayName: "Sort By", name: "sort", type: "string", default: "", description: "A column" },
    ],
  },
]

export const properties: INodeProperties[] = [
  {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    options: [
      { name: "Event", value: "event" },
      { name: "Row", value: "row" },
    ],
    default: "event",
  },
  ...eventProperties,
  ...rowProperties,
]
