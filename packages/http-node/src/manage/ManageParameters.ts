/** The segments and parameters that endpoints of the management API share. */
import { DEFAULT_LIMIT, MAX_LIMIT, parseLimit } from "@data-cabinet/core/pagination/Page"
import type { ManageParameter, ManageSegment } from "./ManageEndpoint.ts"

const ID = { type: "integer", format: "int64", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const

const readId = (text: string): number | undefined => {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? id : undefined
}

export const idSegment = (description: string, name = "id"): ManageSegment<number> => ({
  name,
  description,
  schema: ID,
  example: 1,
  read: readId,
  expected: "a positive integer",
})

export const nameSegment = (name: string, description: string, example: string): ManageSegment<string> => ({
  name,
  description,
  schema: { type: "string" },
  example,
  read: (text) => (text.includes("\0") ? undefined : text),
  expected: "a name in UTF-8",
})

export const limitParameter = {
  name: "limit",
  description: "How many items to return at most.",
  schema: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  read: parseLimit,
  expected: `an integer from 1 to ${MAX_LIMIT}`,
} as const satisfies ManageParameter<number>

/** RFC 3339 with a zone, in the years that PostgreSQL and JavaScript both know. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

export const isTime = (text: string): boolean => TIME.test(text) && !Number.isNaN(Date.parse(text))

export const beforeIdParameter = {
  name: "before",
  description: "Only entries before this one, for the next page.",
  schema: ID,
  read: readId,
  expected: "a positive integer",
} as const satisfies ManageParameter<number>

/** The pages of a list in the order of its ids. */
const afterIdParameter = {
  name: "after",
  description: "`next_cursor` of the previous page: only those with a higher id.",
  schema: ID,
  read: readId,
  expected: "a positive integer",
} as const satisfies ManageParameter<number>

/** Without `limit` as many as possible: a client that knows no pages sees a list of up to so many whole. */
export const idPageParameters = [
  { ...limitParameter, schema: { ...limitParameter.schema, default: MAX_LIMIT } },
  afterIdParameter,
] as const

export const idParameter = <const Name extends string>(name: Name, description: string) =>
  ({ name, description, schema: ID, read: readId, expected: "a positive integer" }) satisfies ManageParameter<number>

export const timeParameter = <const Name extends string>(name: Name, description: string) =>
  ({
    name,
    description: `${description} RFC 3339.`,
    schema: { type: "string", format: "date-time" },
    read: (text: string) => (isTime(text) ? text : undefined),
    expected: "a time such as 2026-11-21T09:30:00Z",
  }) satisfies ManageParameter<string>

export const textParameter = <const Name extends string>(name: Name, description: string) =>
  ({
    name,
    description,
    schema: { type: "string" },
    read: (text: string) => (text.includes("\0") || !text.isWellFormed() ? undefined : text),
    expected: "a text",
  }) satisfies ManageParameter<string>

export const flagParameter = <const Name extends string>(name: Name, description: string) =>
  ({
    name,
    description,
    schema: { type: "boolean", default: false },
    read: (text: string) => (text === "true" ? true : text === "false" ? false : undefined),
    expected: "true or false",
  }) satisfies ManageParameter<boolean>

/** The use case checks the range of the seconds. */
export const secondsParameter = <const Name extends string>(name: Name, description: string) =>
  ({
    name,
    description,
    schema: { type: "integer", minimum: 1 },
    read: readId,
    expected: "a whole number of seconds",
  }) satisfies ManageParameter<number>

export const wordParameter = <const Name extends string, const Word extends string>(
  name: Name,
  words: ReadonlyArray<Word>,
  description: string,
  required = false,
) =>
  ({
    name,
    description,
    schema: { type: "string", enum: words },
    read: (text: string) => words.find((word) => word === text),
    expected: `one of ${words.join(", ")}`,
    required,
  }) satisfies ManageParameter<Word>
