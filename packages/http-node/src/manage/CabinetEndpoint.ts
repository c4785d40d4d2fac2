/** Facts about the cabinet that a client needs first: its version, and its address. */
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import * as Shape from "@data-cabinet/core/json/Shape"
import { Effect } from "effect"
import { HttpSettings } from "../server/HttpSettings.ts"
import { one } from "./ManageResponses.ts"
import { manageEndpoint } from "./ManageEndpoint.ts"

const cabinetShape = Shape.named(
  "Cabinet",
  Shape.object<{ readonly version: string; readonly baseUrl: string; readonly baseUrlKnown: boolean }>("A cabinet.", {
    version: Shape.text("The version of its server."),
    baseUrl: Shape.text("The base address of its links, without a trailing slash."),
    baseUrlKnown: Shape.flag("False if it is not set, but only the server's listening address."),
  }),
)

export const manageCabinet = Effect.map(HttpSettings, ({ baseUrl, baseUrlKnown = true }) => [
  manageEndpoint({
    id: "getCabinet",
    tag: "Self",
    method: "GET",
    path: "/manage/v1/cabinet",
    summary: "The cabinet",
    description: "The version of its server, and the base address of its links.",
    action: "self.read",
    response: one(cabinetShape, "The cabinet."),
    respond: () => Effect.succeed(cabinetShape.json({ version: VERSION, baseUrl, baseUrlKnown })),
  }),
])
