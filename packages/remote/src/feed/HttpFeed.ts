/** The event feed of a remote cabinet. */
import { Feed, type FeedResult } from "@data-cabinet/core/feed/Feed"
import { FeedError } from "@data-cabinet/core/feed/FeedError"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { pageOf } from "../http/PageItems.ts"
import { type RemoteRefusal, refusedAs } from "../http/RemoteRefusal.ts"

const CODES: ReadonlyArray<string> = FeedError.fields.code.literals

const known = ({ code, message, param }: RemoteRefusal): FeedError | undefined =>
  CODES.includes(code) ? new FeedError({ code: code as FeedError["code"], message, param: param ?? "" }) : undefined

/** A page of the management API's feed. */
export const feedPage = (api: ManageApi["Service"], query: ReadonlyArray<readonly [name: string, value: string]>) =>
  Effect.map(refusedAs(api.text({ method: "GET", path: ["feed"], query }), known), (text): FeedResult => {
    const { items, hasMore, nextCursor } = pageOf(text)
    // The feed has a cursor on every page.
    return { items, hasMore, nextCursor: nextCursor ?? "", cursors: null }
  })

export const layer = Layer.effect(
  Feed,
  Effect.map(ManageApi, (api) => Feed.of({ page: (params) => feedPage(api, params) })),
)
