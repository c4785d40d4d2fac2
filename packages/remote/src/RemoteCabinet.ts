/**
 * The use cases of a cabinet on another machine, by its address and an access token.
 *
 * Decision: docs/decisions/0050-a-remote-cabinet-is-its-use-cases.md
 */
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import { Layer } from "effect"
import * as HttpActivity from "./activity/HttpActivity.ts"
import * as HttpApplyTurn from "./apply/HttpApplyTurn.ts"
import * as HttpAuditLog from "./audit/HttpAuditLog.ts"
import * as HttpAddresses from "./delivery/HttpAddresses.ts"
import * as HttpDeliveries from "./delivery/HttpDeliveries.ts"
import * as HttpDestinations from "./destination/HttpDestinations.ts"
import * as HttpDoctor from "./diagnostics/HttpDoctor.ts"
import * as HttpEventContext from "./event/HttpEventContext.ts"
import * as HttpRereading from "./event/HttpRereading.ts"
import * as HttpTrash from "./event/HttpTrash.ts"
import * as HttpFeed from "./feed/HttpFeed.ts"
import * as HttpFollowers from "./follower/HttpFollowers.ts"
import * as HttpImport from "./file/HttpImport.ts"
import * as HttpImports from "./file/HttpImports.ts"
import * as ManageApi from "./http/ManageApi.ts"
import * as HttpInbox from "./inbox/HttpInbox.ts"
import * as HttpAccessTokens from "./key/HttpAccessTokens.ts"
import * as HttpApiKeys from "./key/HttpApiKeys.ts"
import * as HttpNotices from "./notice/HttpNotices.ts"
import * as HttpShapes from "./payload/HttpShapes.ts"
import * as HttpPeople from "./person/HttpPeople.ts"
import * as HttpPolls from "./poll/HttpPolls.ts"
import * as HttpIndexes from "./row/HttpIndexes.ts"
import * as HttpLatestViews from "./row/HttpLatestViews.ts"
import * as HttpReaders from "./row/HttpReaders.ts"
import * as HttpSelectRows from "./row/HttpSelectRows.ts"
import * as HttpSourceColumns from "./row/HttpSourceColumns.ts"
import * as HttpTableRebuild from "./row/HttpTableRebuild.ts"
import * as HttpTables from "./row/HttpTables.ts"
import * as HttpBaseAddress from "./source/HttpBaseAddress.ts"
import * as HttpSources from "./source/HttpSources.ts"
import * as HttpLateVerification from "./event/HttpLateVerification.ts"

export const layer = Layer.mergeAll(
  HttpAccessTokens.layer,
  HttpActivity.layer,
  HttpAddresses.layer,
  HttpApiKeys.layer,
  HttpApplyTurn.layer,
  HttpAuditLog.layer,
  HttpBaseAddress.layer,
  HttpDeliveries.layer,
  HttpDestinations.layer,
  HttpDoctor.layer,
  HttpEventContext.layer,
  HttpFeed.layer,
  ExportRows.layerOfPages.pipe(Layer.provide(HttpSelectRows.layer)),
  HttpFollowers.layer,
  HttpImport.layer,
  HttpImports.layer,
  HttpInbox.layer,
  HttpLateVerification.layer,
  HttpRereading.layer,
  HttpNotices.layer,
  HttpPeople.layer,
  HttpPolls.layer,
  HttpIndexes.layer,
  HttpLatestViews.layer,
  HttpReaders.layer,
  HttpSelectRows.layer,
  HttpShapes.layer,
  HttpSourceColumns.layer,
  HttpSources.layer,
  HttpTableRebuild.layer,
  HttpTables.layer,
  HttpTrash.layer,
).pipe(Layer.provide(ManageApi.layer))
