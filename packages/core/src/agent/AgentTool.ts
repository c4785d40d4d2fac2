/**
 * The tools that an agent gets, as the Model Context Protocol lists them. They only read. Their parameters are those of
 * the read API, so that its refusals name the agent's own parameters.
 */
import { CHANNELS } from "../event/EventLog.ts"
import { MAX_LIMIT } from "../pagination/Page.ts"
import type { Action } from "../key/Role.ts"
import { FILTER_CONDITIONS, FILTER_JOINS } from "../selection/Selection.ts"

/** A parameter of a tool. */
export interface ToolParameter {
  readonly description: string
  /** JSON Schema of one value. */
  readonly schema: { readonly type: "string" | "integer"; readonly [keyword: string]: unknown }
  /** A list of such values. */
  readonly repeats?: true
  /** One such value, or a list of them. */
  readonly orMany?: true
  readonly required?: true
}

export interface AgentTool {
  readonly title: string
  readonly description: string
  readonly parameters: { readonly [name: string]: ToolParameter }
  /** What its reader must be allowed to do; every reader may use a tool without it. */
  readonly needs?: Action
}

/** The number of rows or events if the agent names none. */
export const USUAL_ITEMS = 50
/** The wait in seconds: clients give up on a call after a minute. */
export const USUAL_WAIT_SECONDS = 25
/** The longest wait that an agent may request. */
export const MAX_WAIT_SECONDS = 50

const text = { type: "string" } as const
const day = { type: "string", format: "date" } as const
const name = { ...text, minLength: 1 }

const LIMIT: ToolParameter = {
  description: `How many at most; ${USUAL_ITEMS} if omitted. Fewer are returned if they would be too long together.`,
  schema: { type: "integer", minimum: 1, maximum: MAX_LIMIT },
}

const cursor = (description: string): ToolParameter => ({ description, schema: text })

const OBJECT = {
  schema: {
    description: "The schema of the table or view; tables of sources are in sources.",
    schema: name,
    required: true,
  },
  name: { description: "Its name in the schema, as list_tables has it.", schema: name, required: true },
} as const satisfies AgentTool["parameters"]

const SELECTING = {
  q: {
    description: "Substring search in every column as its text is shown, JSON included; case-insensitive.",
    schema: text,
  },
  fc: {
    description: "The columns of the filters: the first belongs to the first fo and the first fv, and so on.",
    schema: text,
    repeats: true,
  },
  fo: {
    description:
      "The conditions of the filters. contains finds a substring, case-insensitive, and in a JSON column searches its text as shown, with a space behind each colon and comma; there eq compares the whole value. eq, ne and the others distinguish case; ne finds NULL, too. For one of several values, join several eq by or.",
    schema: { type: "string", enum: FILTER_CONDITIONS },
    repeats: true,
  },
  fv: {
    description:
      "The values of the filters, as text; an empty text for empty and notempty. In a column of a text type ge, gt, le and lt compare as text, which also orders ISO dates.",
    schema: text,
    repeats: true,
  },
  fj: {
    description:
      'What joins each two adjacent filters: "and" or "or", "and" if omitted. "or" binds more tightly: ["or","and"] between three filters means (first or second) and third.',
    schema: { type: "string", enum: FILTER_JOINS },
    repeats: true,
  },
  per: {
    description: "The date or time column of a period. In a column of text, filter by ge and lt instead.",
    schema: text,
  },
  from: {
    description:
      "The first day of the period, in the cabinet's time zone, such as 2026-11-01. about_cabinet says what day it is there.",
    schema: day,
  },
  to: { description: "The last day of the period, which is part of it.", schema: day },
} as const satisfies AgentTool["parameters"]

const EVENTS = {
  cursor: cursor(
    "The next_cursor of an earlier call with the same source_id and channel: the events after it. Without cursor and from: from the oldest event.",
  ),
  from: {
    description:
      "In place of cursor: now, a day of the cabinet's time zone such as 2026-11-01, or a time with its zone such as 2026-11-01T09:00:00Z, for events that were received since.",
    schema: text,
  },
  source_id: {
    description: "Only events of this source: the id of source in list_tables.",
    schema: { type: "integer", minimum: 1 },
  },
  channel: { description: "Only events of this channel.", schema: { type: "string", enum: CHANNELS } },
  limit: LIMIT,
} as const satisfies AgentTool["parameters"]

/** All tools, by name. */
export const AGENT_TOOLS = {
  about_cabinet: {
    title: "About this cabinet",
    description:
      "What this cabinet is, what may be read here, how the other tools work together, the cabinet's time zone, and what time it is there: now begins with today's date.",
    parameters: {},
  },
  list_tables: {
    title: "List tables",
    description:
      "The readable tables and views by schema and name, each with its kind, its source, a comment and about how many rows it has (rows_estimate, null where nothing is known).",
    parameters: { cursor: cursor("The next_cursor of an earlier call, for the tables after it.") },
  },
  describe_table: {
    title: "Describe a table",
    description:
      "The columns of a table or view, each with its name, type, label and comment; its primary key, about how many rows it has, and the query of a view.",
    parameters: { ...OBJECT, cursor: cursor("The next_cursor of an earlier call, for the columns after it.") },
  },
  read_rows: {
    title: "Read rows",
    description:
      'Rows of a table or view by a selection: search, filters, a period, sorts, a choice of columns. For (status = open or status = refunded) and total >= 700: fc ["status","status","total"], fo ["eq","eq","ge"], fv ["open","refunded","700"], fj ["or","and"]. While has_more is true, call again with next_cursor as cursor and everything else unchanged. To count or add up rows use summarize_rows.',
    parameters: {
      ...OBJECT,
      ...SELECTING,
      sort: {
        description:
          "The column to sort by, or a list of them; the direction goes into dir. NULL comes last in both directions. Without sort the table of a source begins with its newest row.",
        schema: text,
        orMany: true,
      },
      dir: {
        description: "The direction of the sort, or a list with that of each of several; asc where omitted.",
        schema: { type: "string", enum: ["asc", "desc"] },
        orMany: true,
      },
      col: { description: "Exactly these columns, in this order.", schema: text, repeats: true },
      order: {
        description: "Without col: these columns first. Rows are ordered by sort alone.",
        schema: text,
        repeats: true,
      },
      hide: { description: "Without col: all columns except these.", schema: text, repeats: true },
      limit: LIMIT,
      cursor: cursor("The next_cursor of the previous call."),
    },
  },
  summarize_rows: {
    title: "Summarize rows",
    description:
      "How many rows a selection has, exactly. With column also its sum, average, least and greatest value (of numbers; of times the last two), and its 20 most frequent values with their counts (exact says whether all rows were counted for these, or only the first). The average has at most four digits after the point if it is 1 or more.",
    parameters: {
      ...OBJECT,
      ...SELECTING,
      column: { description: "The column to summarize.", schema: name },
    },
  },
  read_events: {
    title: "Read events",
    description:
      "The events after a cursor, each once, in the order in which they were accepted. next_cursor is always set: keep it and go on from there, at once while has_more is true, otherwise later; nothing is ever inserted before it. An event with repeat_of repeats an earlier one, one with history was imported, one with deleted_at is in the trash.",
    parameters: EVENTS,
  },
  wait_for_events: {
    title: "Wait for events",
    description:
      "Like read_events, but waits for the next event if there is none after the cursor yet. If none arrives in time, the list is empty: call again with next_cursor.",
    parameters: {
      ...EVENTS,
      seconds: {
        description: `How long to wait; ${USUAL_WAIT_SECONDS} if omitted.`,
        schema: { type: "integer", minimum: 1, maximum: MAX_WAIT_SECONDS },
      },
    },
  },
  list_failing_addresses: {
    title: "List failing addresses",
    description:
      "The delivery addresses to which the last attempts failed, or that were paused for it, each with its last error: when, for which event, with which status, and why in words. An address that a person paused is not among them. No address in the list means that none fails.",
    parameters: { cursor: cursor("The next_cursor of an earlier call, for the addresses after it.") },
    needs: "address.read",
  },
} as const satisfies { readonly [name: string]: AgentTool }

/** The name of a tool. */
export type ToolName = keyof typeof AGENT_TOOLS

/** True if a tool has this name. */
export const isToolName = (given: string): given is ToolName => Object.hasOwn(AGENT_TOOLS, given)

const inputSchema = ({ parameters }: AgentTool) => {
  const entries = Object.entries(parameters)
  const properties = entries.map(([key, { description, schema, repeats, orMany }]) => {
    const many = { type: "array", items: schema }
    const form = repeats === true ? many : orMany === true ? { anyOf: [schema, many] } : schema
    return [key, { description, ...form }] as const
  })
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: entries.filter(([, { required }]) => required === true).map(([key]) => key),
    additionalProperties: false,
  }
}

/** The names of the tools that a reader may use. */
export const toolsOf = (seesAddresses: boolean): ReadonlyArray<ToolName> =>
  (Object.keys(AGENT_TOOLS) as ReadonlyArray<ToolName>).filter(
    (key) => seesAddresses || (AGENT_TOOLS[key] as AgentTool).needs === undefined,
  )

/** The result of `tools/list`. */
export const toolList = (seesAddresses: boolean) => ({
  tools: toolsOf(seesAddresses)
    .map((key) => [key, AGENT_TOOLS[key]] as const)
    .map(([key, tool]) => ({
      name: key,
      title: tool.title,
      description: tool.description,
      inputSchema: inputSchema(tool),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    })),
})
