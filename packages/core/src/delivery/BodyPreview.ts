/** What an address would be sent for an event: the event, the template and the request beside one another. */
import * as Shape from "../json/Shape.ts"
import { BODY_METHODS, type BodyChoice, type BodyMethod } from "./BodySetting.ts"

/** What to preview. */
export interface PreviewChoice {
  /** Default: the newest event that the address would be sent, or a sample without one. */
  readonly eventId?: number
  /** Default: that of the address. */
  readonly body?: BodyChoice
}

/** A request that is not sent. */
export interface BodyPreview {
  /** Null for the sample. */
  readonly eventId: number | null
  /** JSON text, so that its digits are kept; null for the sample. */
  readonly event: string | null
  readonly template: string | null
  readonly method: BodyMethod
  readonly headers: ReadonlyArray<PreviewHeader>
  /** As text. */
  readonly body: string
}

/** A header that describes the body. */
export interface PreviewHeader {
  readonly name: string
  readonly value: string
}

/** A preview as the APIs show it. */
export const bodyPreviewShape = Shape.named(
  "BodyPreview",
  Shape.object<BodyPreview>("What an address would be sent.", {
    eventId: Shape.orNull(Shape.id("The event; null for a sample.", 10417)),
    event: Shape.orNull(Shape.text("The event as the feed shows it, as JSON text; null for a sample.")),
    template: Shape.orNull(Shape.text("The template; null without one.")),
    method: Shape.oneOf(BODY_METHODS),
    headers: Shape.list(
      Shape.object<PreviewHeader>("A header.", {
        name: Shape.text("Its name."),
        value: Shape.text("Its value."),
      }),
      "The headers that describe the body; the others have secrets and signatures.",
    ),
    body: Shape.text("The body of the request."),
  }),
)
