/** `cabinet address preview`: the request that an address would be sent for an event, beside the event and the template. */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { type BodyPreview, bodyPreviewShape, type PreviewChoice } from "@data-cabinet/core/delivery/BodyPreview"
import { BODY_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { plainText } from "../output/PlainText.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { declaredFlags, readSettings } from "./SettingFlags.ts"
import { addressArgument, addressNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

const linesOf = (text: string): ReadonlyArray<string> => text.trimEnd().split(/\r?\n/).map(plainText)

const previewText = ({ eventId, event, template, method, headers, body }: BodyPreview, style: Style): string =>
  [
    style.bold(eventId === null ? "A sample, because the sources of this address have no event" : `Event ${eventId}`),
    ...(event === null ? [] : [plainText(event)]),
    ...(template === null ? [] : ["", style.bold("Template"), ...linesOf(template)]),
    "",
    style.bold(`Request: ${method}`),
    ...headers.map(({ name, value }) => plainText(`${name}: ${value}`)),
    "",
    ...linesOf(body),
  ].join("\n")

export const preview = Command.make(
  "preview",
  {
    id: addressArgument,
    event: Flag.Int("event").pipe(
      Flag.withMetavar("NUMBER"),
      Flag.withDescription("The event; default: the newest one that the address would receive"),
      Flag.optional,
    ),
    ...declaredFlags(BODY_SETTINGS),
  },
  (input) =>
    Effect.gen(function* () {
      const body = yield* readSettings(BODY_SETTINGS, input)
      yield* withCabinet({}, () =>
        Effect.gen(function* () {
          const id = yield* addressNamed(input.id)
          const shown = yield* Addresses.use((addresses) =>
            addresses.preview(id, {
              ...(Option.isNone(input.event) ? {} : { eventId: input.event.value }),
              ...(body as Pick<PreviewChoice, "body">),
            }),
          )
          yield* report(yield* format, bodyPreviewShape.json(shown), (style) => previewText(shown, style))
        }),
      )
    }),
).pipe(Command.withDescription("Show what would be sent to an address for an event, with its own or another body"))
