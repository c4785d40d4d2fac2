/** An original request as JSON, for its owner. */
import type { OtherReading } from "../intake/OtherReadings.ts"
import type { StoredOriginal } from "./EventDetail.ts"
import type { Original } from "./EventLog.ts"

/** Readings in the form in which they are shown and stored. */
export const otherReadingsJson = (readings: ReadonlyArray<OtherReading>) =>
  readings.map(({ name, decidedBy, place, fields, more }) => ({ name, decided_by: decidedBy, place, fields, more }))

/** The readings as JSON. */
export type OtherReadingsJson = ReturnType<typeof otherReadingsJson>

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
export const bodyJson = ({ body, charset }: StoredOriginal) => ({
  body: textIn(charset, body),
  body_base64: textIn("utf-8", body) === null ? Buffer.from(body).toString("base64") : null,
})

export const originalJson = (original: StoredOriginal | null) =>
  original === null
    ? null
    : {
        received_at: original.receivedAt,
        ...bodyJson(original),
        body_bytes: original.bodyBytes,
        truncated: original.bodyBytes > original.body.byteLength,
        content_type: original.contentType,
        ip: original.ip,
        headers: {
          referer: original.referer,
          origin: original.origin,
          user_agent: original.userAgent,
          accept_language: original.acceptLanguage,
        },
        kept_headers: original.kept?.headers ?? [],
        query: original.kept?.query ?? null,
        verification:
          original.verdict === null
            ? null
            : {
                recipe: original.verdict.recipe,
                verified: original.verdict.refusal === null,
                reason: original.verdict.refusal,
              },
        late_verification:
          original.late === null
            ? null
            : {
                recipe: original.late.recipe,
                verified: original.late.refusal === null,
                reason: original.late.refusal,
                at: original.late.at,
                delivered_at: original.late.deliveredAt,
              },
        encoding: {
          name: original.charset,
          decided_by: original.charsetFrom,
          replaced: original.replaced,
          others: otherReadingsJson(original.others ?? []),
        },
      }
