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
  Effect.map(ManageApi, (api) =>
    Feed.of({
      page: (params) => feedPage(api, params),
      start: (params, start) => {
        const at = start === "now" ? start : "last" in start ? null : start.time
        const where =
          at === null ? (["last", String((start as { last: number }).last)] as const) : (["from", at] as const)
        // What only pages have is none of the start's.
        const query = [...params.filter(([name]) => name === "source_id" || name === "channel"), where]
        const request = { method: "GET", path: ["feed", "start"], query } as const
        return Effect.map(refusedAs(api.json<{ readonly cursor: string }>(request), known), ({ cursor }) => cursor)
      },
    }),
  ),
)
