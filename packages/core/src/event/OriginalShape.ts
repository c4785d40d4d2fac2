/** The JSON of an original request, for the owner of its source, and its description. */
import * as Shape from "../json/Shape.ts"
import { type OtherReading, READING_PLACES } from "./OtherReadings.ts"
import { RECIPE_NAMES, type RecipeName } from "../verification/Recipes.ts"
import { REFUSAL_REASONS, type RefusalReason } from "../verification/VerifySender.ts"
import type { EventVerdict } from "../verification/Verification.ts"
import type { StoredOriginal } from "./EventDetail.ts"
import type { Original } from "./EventLog.ts"

const readingShape = Shape.object<OtherReading>("Values in one charset.", {
  name: Shape.text("The charset."),
  decidedBy: Shape.text("How it was determined."),
  place: Shape.oneOf(READING_PLACES, "Where the values stand: body, query or the names of files."),
  fields: Shape.list(Shape.text(), "The fields' names: the first few of many."),
  more: Shape.whole("How many values there are besides."),
})

/** Readings in the form in which they are shown and stored. */
export const otherReadingsJson = (readings: ReadonlyArray<OtherReading>) => readings.map(readingShape.json)

/** The readings as JSON. */
export type OtherReadingsJson = Shape.JsonOf<ReadonlyArray<OtherReading>>

/** The property of an original request, from its JSON. */
export const othersOf = (readings: OtherReadingsJson | null | undefined): Pick<Original, "others"> =>
  readings == null || readings.length === 0
    ? {}
    : { others: readings.map(({ decided_by: decidedBy, ...reading }) => ({ ...reading, decidedBy })) }

/** Decodes bytes in one of our charsets; null if they are not valid text, or the charset is unknown here. */
const textIn = (charset: string, bytes: Uint8Array): string | null => {
  try {
    const label = charset === "latin-1" ? "windows-1252" : charset
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

/** The body as text in the charset it was read in, and also as bytes if the text does not represent them. */
export const shownBody = ({ body, charset }: StoredOriginal) => ({
  body: textIn(charset, body),
  bodyBase64: textIn("utf-8", body) === null ? Buffer.from(body).toString("base64") : null,
})

interface ShownVerdict {
  readonly recipe: RecipeName
  readonly verified: boolean
  readonly reason: RefusalReason | null
}

interface ShownLateVerdict extends ShownVerdict {
  readonly at: string
  readonly deliveredAt: string | null
}

interface ShownOriginal {
  readonly receivedAt: string
  readonly body: string | null
  readonly bodyBase64: string | null
  readonly bodyBytes: number
  readonly truncated: boolean
  readonly contentType: string | null
  readonly ip: string | null
  readonly headers: Pick<Original, "referer" | "origin" | "userAgent" | "acceptLanguage">
  readonly keptHeaders: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly query: string | null
  readonly verification: ShownVerdict | null
  readonly lateVerification: ShownLateVerdict | null
  readonly encoding: {
    readonly name: string
    readonly decidedBy: string
    readonly replaced: number
    readonly others: ReadonlyArray<OtherReading>
  }
}

const asSent = Shape.orNull(Shape.text("As sent."))

const verdictMembers = (recipe: string): Shape.Members<ShownVerdict> => ({
  recipe: Shape.oneOf(RECIPE_NAMES, recipe),
  verified: Shape.flag("Whether it is the sender's."),
  reason: Shape.orNull(Shape.oneOf(REFUSAL_REASONS), "Why it is not; null if it is."),
})

const shownShape = Shape.object<ShownOriginal>("A request as it was received.", {
  receivedAt: Shape.time("When it was received."),
  body: Shape.orNull(Shape.text("The first 65,536 bytes as text, if they are text in the charset.")),
  bodyBase64: Shape.orNull(Shape.text("The same as bytes, if they are not UTF-8.")),
  bodyBytes: Shape.whole("The size of the whole body."),
  truncated: Shape.flag("Whether it was larger than the kept part."),
  contentType: asSent,
  ip: Shape.orNull(Shape.text("The sender's address.")),
  headers: Shape.object<ShownOriginal["headers"]>("The headers that every source keeps.", {
    referer: asSent,
    origin: asSent,
    userAgent: asSent,
    acceptLanguage: asSent,
  }),
  keptHeaders: Shape.list(
    Shape.object<ShownOriginal["keptHeaders"][number]>("A header.", {
      name: Shape.text("In lower case."),
      value: Shape.text("As sent."),
    }),
    "The headers that the source's settings keep.",
  ),
  query: Shape.orNull(Shape.text("The query string as sent, if the source keeps it.")),
  verification: Shape.orNull(
    Shape.object<ShownVerdict>(
      "The result of its verification; null if the source had no recipe.",
      verdictMembers("The recipe by which the sender should have signed."),
    ),
  ),
  lateVerification: Shape.orNull(
    Shape.object<ShownLateVerdict>("The result of its later verification; null if there was none.", {
      ...verdictMembers("The recipe by which its sender was verified later."),
      at: Shape.time("When it was last checked."),
      deliveredAt: Shape.orNull(Shape.time("When its events were delivered as a result.")),
    }),
  ),
  encoding: Shape.object<ShownOriginal["encoding"]>("How it was read.", {
    name: Shape.text("The charset that it was decoded with."),
    decidedBy: Shape.text("How the charset was determined."),
    replaced: Shape.whole("Characters that could not be decoded."),
    others: Shape.list(readingShape, "The values that were read in a charset other than `name`."),
  }),
})

const shownVerdict = ({ recipe, refusal }: EventVerdict): ShownVerdict => ({
  recipe,
  verified: refusal === null,
  reason: refusal,
})

const shown = (original: StoredOriginal): ShownOriginal => ({
  ...original,
  ...shownBody(original),
  truncated: original.bodyBytes > original.body.byteLength,
  headers: original,
  keptHeaders: original.kept?.headers ?? [],
  query: original.kept?.query ?? null,
  verification: original.verdict === null ? null : shownVerdict(original.verdict),
  lateVerification:
    original.late === null
      ? null
      : { ...shownVerdict(original.late), at: original.late.at, deliveredAt: original.late.deliveredAt },
  encoding: {
    name: original.charset,
    decidedBy: original.charsetFrom,
    replaced: original.replaced,
    others: original.others ?? [],
  },
})

/** The original request's JSON and its description. */
export const originalShape = Shape.derived(shown, Shape.named("OriginalRequest", shownShape))
