/** The conditions of the filters of an event list. */
import type { EventFilter, EventState, InboxMark } from "@data-cabinet/core/event/EventListStore"
import { foldedText } from "@data-cabinet/core/selection/FoldedText"

/** The parameters of a statement. */
export class Values {
  readonly all: Array<unknown> = []
  add(value: unknown, type: string): string {
    return `$${this.all.push(value)}::${type}`
  }
}

/** The mark of `MarkEvents` in a payload. PostgreSQL cannot read a member of JSON that has U+0000 anywhere. */
const MARK = String.raw`"_valid":false,"_schema_error":"([^"\\]|\\.)*"[}]$`
/** The most characters of a mark. */
const MARK_LENGTH = 2_000

const STATE_SQL: Readonly<Record<EventState, string>> = {
  row: "e.repeat_of IS NULL AND e.deleted_at IS NULL AND e.spam IS NULL",
  repeat: "e.repeat_of IS NOT NULL",
  empty: "e.empty",
  history: "e.history",
  unverified: "e.verified = false",
  invalid: `right(e.payload::text, ${MARK_LENGTH}) ~ '${MARK}'`,
  spam: "e.spam IS NOT NULL AND e.deleted_at IS NULL",
  trashed: "e.deleted_at IS NOT NULL AND e.purged_at IS NULL",
  purged: "e.purged_at IS NOT NULL",
}

const marked = (which: string): string =>
  `EXISTS (SELECT FROM cabinet.inbox_mark m WHERE m.event_id = e.id AND ${which})`

const MARK_SQL: Readonly<Record<InboxMark, string>> = {
  open: `NOT ${marked("m.done_at IS NOT NULL")}`,
  unread: `NOT ${marked("(m.read_at IS NOT NULL OR m.done_at IS NOT NULL)")}`,
  done: marked("m.done_at IS NOT NULL"),
}

/** The text itself, in a pattern of LIKE. */
const literal = (text: string): string => `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`

/** As senders write it that escape everything beyond ASCII. */
const escaped = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/[^\u0000-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Case and composed letters are folded, whatever the database's own collation, as in the rows of a table. */
const contains = (text: string, collation: string): string =>
  `${foldedText("e.payload::text", collation, null)} LIKE ${foldedText(text, collation, null)}`

interface Filtered {
  readonly filter: EventFilter
  /** Quoted and with its schema. */
  readonly foldCollation: string
}

/** Of the events `e` that a list has. */
export const eventConditions = ({ filter, foldCollation }: Filtered, values: Values): string => {
  const { channel, sourceId, state, event, text, from, to, mark } = filter
  const all = [
    ...(channel === null ? [] : [`e.channel = ${values.add(channel, "text")}`]),
    ...(sourceId === null ? [] : [`e.source_id = ${values.add(sourceId, "int8")}`]),
    ...(state === null ? [] : [STATE_SQL[state]]),
    ...(event === null ? [] : [`e.id = ${values.add(event, "int8")}`]),
    ...(from === null ? [] : [`e.received_at >= ${values.add(from, "timestamptz")}`]),
    ...(to === null ? [] : [`e.received_at < ${values.add(to, "timestamptz")}`]),
    ...(mark === null ? [] : [MARK_SQL[mark]]),
  ]
  if (text !== null) {
    const escapes = [text, text.normalize("NFC"), text.normalize("NFD")].map(escaped)
    const forms = [...new Set([text, ...escapes])].map((form) =>
      contains(values.add(literal(form), "text"), foldCollation),
    )
    all.push(`(${forms.join(" OR ")})`)
  }
  return all.length === 0 ? "true" : all.map((one) => `(${one})`).join(" AND ")
}
