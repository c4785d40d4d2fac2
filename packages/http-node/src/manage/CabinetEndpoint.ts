/** Facts about the cabinet that a client needs first: its version, and its address. */
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import { Effect } from "effect"
import { HttpSettings } from "../server/HttpSettings.ts"
import { one } from "./ManageResponses.ts"
import { manageEndpoint } from "./ManageEndpoint.ts"

export const manageCabinet = Effect.map(HttpSettings, ({ baseUrl, baseUrlKnown = true }) => [
  manageEndpoint({
    id: "getCabinet",
    tag: "Self",
    method: "GET",
    path: "/manage/v1/cabinet",
    summary: "The cabinet",
    description: "The version of its server, and the base address of its links.",
    action: "self.read",
    response: one("Cabinet", "The cabinet."),
    respond: () => Effect.succeed({ version: VERSION, base_url: baseUrl, base_url_known: baseUrlKnown }),
  }),
])
