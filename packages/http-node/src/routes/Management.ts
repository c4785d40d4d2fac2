/** The routes of the management API, over the ports and use cases of a cabinet, with its description and its reference page. */
import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"
import { Context, Effect, Layer } from "effect"
import { manageShapes } from "../payload/ManageShapes.ts"
import { manageActivity } from "../activity/ManageActivity.ts"
import { manageAudit } from "../audit/ManageAudit.ts"
import { manageAddresses } from "../delivery/ManageAddresses.ts"
import { manageDeliveries } from "../delivery/ManageDeliveries.ts"
import { manageColumnIndexes } from "../row/ManageColumnIndexes.ts"
import { manageSearchIndex } from "../row/ManageSearchIndex.ts"
import { manageLatestViews } from "../row/ManageLatestViews.ts"
import { manageReportLogin } from "../row/ManageReportLogin.ts"
import { manageDatabase } from "../diagnostics/ManageDatabase.ts"
import { manageDestinations } from "../destination/ManageDestinations.ts"
import { manageFollowers } from "../follower/ManageFollowers.ts"
import { manageErasure } from "../event/ManageErasure.ts"
import { manageEvents } from "../event/ManageEvents.ts"
import { manageTrash } from "../event/ManageTrash.ts"
import { manageRereading } from "../event/ManageRereading.ts"
import { manageInbox } from "../inbox/ManageInbox.ts"
import { manageImports } from "../file/ManageImports.ts"
import { manageKeys } from "../key/ManageKeys.ts"
import type { OpenApiDocument } from "../openapi/OpenApiDocument.ts"
import { referenceRoute } from "../openapi/ReferenceRoute.ts"
import { manageNotices } from "../notice/ManageNotices.ts"
import { manageApplyTurn } from "../apply/ManageApplyTurn.ts"
import { managePolls } from "../poll/ManagePolls.ts"
import { manageViews } from "../view/ManageViews.ts"
import { managePeople } from "../person/ManagePeople.ts"
import { manageColumns } from "../row/ManageColumns.ts"
import { manageTableRebuild } from "../row/ManageTableRebuild.ts"
import { manageSummaries } from "../row/ManageSummaries.ts"
import { manageTables } from "../row/ManageTables.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Route } from "../server/Route.ts"
import { manageSources } from "../source/ManageSources.ts"
import { manageLateVerification } from "../event/ManageLateVerification.ts"
import { manageCabinet } from "../manage/CabinetEndpoint.ts"
import { manageDocument } from "../manage/ManageDocument.ts"
import { type ManageEndpoint, manageEndpoint } from "../manage/ManageEndpoint.ts"
import { manageRoutes } from "../manage/ManageRoute.ts"
import { manageSelf } from "../manage/SelfEndpoint.ts"

/** Empty for a cabinet that is composed without it. */
export const Management = Context.Reference<ReadonlyArray<Route>>("@data-cabinet/http-node/routes/Management", {
  defaultValue: () => [],
})

/** All endpoints except their description. */
export const manageEndpoints = Effect.map(
  Effect.all([
    manageSelf,
    manageCabinet,
    manageSources,
    manageColumns,
    manageTableRebuild,
    manageEvents,
    manageTrash,
    manageInbox,
    manageErasure,
    manageLateVerification,
    manageRereading,
    manageActivity,
    manageShapes,
    manageNotices,
    manageTables,
    manageSummaries,
    manageViews,
    manageKeys,
    managePeople,
    manageAddresses,
    manageDeliveries,
    manageImports,
    managePolls,
    manageDestinations,
    manageDatabase,
    manageFollowers,
    manageReportLogin,
    manageColumnIndexes,
    manageSearchIndex,
    manageLatestViews,
    manageAudit,
    manageApplyTurn,
  ]),
  (all): ReadonlyArray<ManageEndpoint> => all.flat(),
)

const describeManagement = (document: () => object): ManageEndpoint =>
  manageEndpoint({
    id: "describeManagement",
    tag: "Description",
    method: "GET",
    path: "/manage/v1/openapi.json",
    summary: "This description",
    description: "The OpenAPI 3.1 description of the management API.",
    action: "self.read",
    response: { status: 200, description: "The document.", schema: { type: "object", additionalProperties: true } },
    respond: () => Effect.succeed(document()),
  })

export const layer = Layer.effect(
  Management,
  Effect.gen(function* () {
    const { baseUrl } = yield* HttpSettings
    const endpoints: ReadonlyArray<ManageEndpoint> = [...(yield* manageEndpoints), describeManagement(() => document())]
    const document: () => OpenApiDocument = madeOnce(() => manageDocument(baseUrl, endpoints))
    return [...(yield* manageRoutes(endpoints)), referenceRoute(document, "/manage/v1/docs")]
  }),
)
