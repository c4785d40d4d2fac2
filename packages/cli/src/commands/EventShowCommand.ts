/** `cabinet event show ID`: everything known about one event. */
import { deliveryShape } from "@data-cabinet/core/delivery/Attempt"
import { EventContext, type EventInContext } from "@data-cabinet/core/event/EventContext"
import type { LaterVerdict, StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { noSuchEvent } from "@data-cabinet/core/error/NoSuchEvent"
import type { SpamReason } from "@data-cabinet/core/event/EventLog"
import { originalShape, shownBody } from "@data-cabinet/core/event/OriginalShape"
import type { OtherReading, ReadingPlace } from "@data-cabinet/core/event/OtherReadings"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import type { EventVerdict } from "@data-cabinet/core/verification/Verification"
import type { RefusalReason } from "@data-cabinet/core/verification/VerifySender"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { card, columns } from "../output/Columns.ts"
import { counted } from "@data-cabinet/core/text/Counted"
import { plainLines } from "../output/PlainText.ts"
import { JsonText, report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "../error/CommandError.ts"
import { idArgument, format, withCabinet } from "./Root.ts"
import { rowCells } from "./RowsCommand.ts"

/** Why the body was read in its charset, in words; an unknown reason is shown as is. */
const DECIDED_BY: Readonly<Record<string, string>> = {
  source: "set on the source",
  header: "from the request header",
  charset_field: "from the form field _charset_",
  named_charset: "from the form field charset",
  named_charsets: "from the form field charsets",
  part: "from the headers of their parts",
  data: "detected from the bytes",
  unclear: "a guess that the text does not confirm",
  reread: "named at a rereading",
  json: "JSON shows its own encoding",
  content_encoding: "its content encoding could not be decoded",
}

/** The columns of a row, in its order. */
const namesOf = (row: string): ReadonlyArray<string> => {
  const read = ownJson(row)
  return read instanceof Map ? [...read.keys()] : []
}

const SPAM_WORDS: Readonly<Record<SpamReason, string>> = {
  honeypot: "a field was filled that people leave empty",
  origin: "it came from a page of another origin",
  no_proof: "it came without a proof of a person",
  wrong_proof: "its proof of a person is wrong or has expired",
  used_proof: "another event came with the same proof of a person",
  unchecked_proof: "its proof of a person could not be checked",
}

export const REFUSAL_WORDS: Readonly<Record<RefusalReason, string>> = {
  no_signature: "there was no signature",
  bad_signature: "the signature does not match",
  old_timestamp: "the signature was too old, or its time too far ahead",
}

const verdictText = ({ recipe, refusal }: EventVerdict): string =>
  refusal === null ? `verified by ${recipe}` : `not verified by ${recipe}: ${REFUSAL_WORDS[refusal]}`

const lateText = ({ at, deliveredAt, ...verdict }: LaterVerdict): string =>
  `${at}, ${verdictText(verdict)}${deliveredAt === null ? "" : `, delivered because of that`}`

const decidedBy = (signal: string): string => DECIDED_BY[signal] ?? signal

const PLACES = { body: "", query: " of the query", file_name: ", names of files" } satisfies Record<
  ReadingPlace,
  string
>

const otherText = ({ name, decidedBy: signal, place, fields, more }: OtherReading): string =>
  plainLines(
    `${name} (${decidedBy(signal)}): ${fields.join(", ")}${more > 0 ? ` and ${more} more` : ""}${PLACES[place]}`,
  )

const originalText = (original: StoredOriginal, style: Style): string => {
  const { body, bodyBase64 } = shownBody(original)
  const decided = decidedBy(original.charsetFrom)
  const head = card(
    [
      ["From", original.ip ?? "unknown"],
      ["Content type", original.contentType ?? "none"],
      ["Encoding", `${original.charset} (${decided}), ${counted(original.replaced, "character")} replaced`],
      ...(original.others ?? []).map((reading) => ["Except", otherText(reading)] as const),
      ["User agent", original.userAgent ?? "none"],
      ["Referer", original.referer ?? "none"],
      ["Origin", original.origin ?? "none"],
      ["Languages", original.acceptLanguage ?? "none"],
      ...(original.kept?.headers ?? []).map(({ name, value }) => [name, value] as const),
      ...(original.kept?.query == null ? [] : [["Query string", original.kept.query] as const]),
      ...(original.verdict === null ? [] : [["Sender", verdictText(original.verdict)] as const]),
      ...(original.late === null ? [] : [["Checked again", lateText(original.late)] as const]),
      [
        "Body",
        `${counted(original.bodyBytes, "byte")}${original.bodyBytes > original.body.byteLength ? `, the first ${original.body.byteLength} kept` : ""}`,
      ],
    ],
    style,
  )
  return `${head}\n${plainLines(body ?? bodyBase64 ?? "")}`
}

const noRow = ({ rowWaits, rowSetAside, spam }: Pick<EventInContext, "rowWaits" | "rowSetAside" | "spam">): string => {
  if (spam !== null) return `It has no row, because it is spam: ${SPAM_WORDS[spam]}.`
  if (rowSetAside !== null) return `Its row is set aside, and is retried: ${plainLines(rowSetAside)}`
  return rowWaits ? "Its row is deferred because the table is locked." : "It has no row."
}

export const show = Command.make("show", { id: idArgument("ID", "The event's number") }, ({ id }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const found = yield* EventContext.use((events) => events.find(id))
      if (Option.isNone(found)) return yield* new CommandError({ code: "refused", message: noSuchEvent(id) })
      const { row, deliveries, ...record } = found.value
      const value = {
        event: new JsonText(record.event),
        original: record.original === null ? null : originalShape.json(record.original),
        row: row === null ? null : new JsonText(row),
        row_waits: record.rowWaits,
        row_set_aside: record.rowSetAside,
        spam: record.spam,
        deliveries: deliveries.map(deliveryShape.json),
      }
      yield* report(yield* format, value, (style) => {
        const title = (words: string) => `\n${style.bold(words)}`
        const none = noRow(record)
        const names = row === null ? [] : namesOf(row)
        const cells = row === null ? [] : rowCells(row, names)
        // A table may have hundreds of columns, of which an event fills only a few.
        const filled = names.map((name, at) => [name, cells[at] ?? ""] as const).filter(([, cell]) => cell !== "")
        return [
          style.bold(`Event ${id}`),
          plainLines(record.event),
          title("Original request"),
          record.original === null ? "No longer kept." : originalText(record.original, style),
          title("Row"),
          row === null ? none : card(filled, style),
          ...(row === null || record.rowSetAside === null
            ? []
            : [`Some of its fields follow: ${plainLines(record.rowSetAside)}`]),
          title("Deliveries"),
          columns(
            ["ID", "ADDRESS", "STATE", "ATTEMPTS", "DUE"],
            deliveries.map((one) => [
              String(one.id),
              String(one.addressId),
              one.state,
              String(one.attempts),
              one.dueAt ?? "",
            ]),
            { style, none: "None." },
          ),
        ].join("\n")
      })
    }),
  ),
).pipe(Command.withDescription("Show one event: its request, how it was decoded, its row and its deliveries"))
