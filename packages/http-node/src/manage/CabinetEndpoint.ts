/** Facts about the cabinet that a client needs first: its version, its address, and its time zone. */
import { Activity } from "@data-cabinet/core/activity/Activity"
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import * as Shape from "@data-cabinet/core/json/Shape"
import { Effect } from "effect"
import { HttpSettings } from "../server/HttpSettings.ts"
import { one } from "./ManageResponses.ts"
import { manageEndpoint } from "./ManageEndpoint.ts"

interface CabinetFacts {
  readonly version: string
  readonly baseUrl: string
  readonly baseUrlKnown: boolean
  readonly timeZone: string
}

const cabinetShape = Shape.named(
  "Cabinet",
  Shape.object<CabinetFacts>("A cabinet.", {
    version: Shape.text("The version of its server."),
    baseUrl: Shape.text("The base address of its links, without a trailing slash."),
    baseUrlKnown: Shape.flag("False if it is not set, but only the server's listening address."),
    timeZone: Shape.text("The zone in which its days begin, such as `Europe/Berlin`."),
  }),
)

export const manageCabinet = Effect.gen(function* () {
  const { baseUrl, baseUrlKnown = true } = yield* HttpSettings
  const activity = yield* Activity
  return [
    manageEndpoint({
      id: "getCabinet",
      tag: "Self",
      method: "GET",
      path: "/manage/v1/cabinet",
      summary: "The cabinet",
      description: "The version of its server, the base address of its links, and its time zone.",
      action: "self.read",
      response: one(cabinetShape, "The cabinet."),
      respond: () =>
        Effect.map(activity.timeZone, (timeZone) =>
          cabinetShape.json({ version: VERSION, baseUrl, baseUrlKnown, timeZone }),
        ),
    }),
  ]
})
