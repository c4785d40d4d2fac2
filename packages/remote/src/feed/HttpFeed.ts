/** The event feed of a remote cabinet, by pages and as it grows. */
import { Feed, type FeedResult } from "@data-cabinet/core/feed/Feed"
import { FeedError } from "@data-cabinet/core/feed/FeedError"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { Effect, Layer } from "effect"
import { ManageApi, type ManageRequest } from "../http/ManageApi.ts"
import { pageOf } from "../http/PageItems.ts"
import { RemoteRefusal, refusedAs } from "../http/RemoteRefusal.ts"

const CODES: ReadonlyArray<string> = FeedError.fields.code.literals

const known = ({ code, message, param }: RemoteRefusal): FeedError | undefined =>
  CODES.includes(code) ? new FeedError({ code: code as FeedError["code"], message, param: param ?? "" }) : undefined

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

const WHOLE_SECONDS = 1_000

/** A page of the management API's feed, or with a key the read API's; the server waits this long for an event. */
const feedPage = (api: ManageApi["Service"], query: Pairs, waitMillis = 0) => {
  // The beginning has no cursor.
  const sent = query.filter(([name, value]) => name !== "cursor" || value !== "")
  const seconds = String(Math.ceil(waitMillis / WHOLE_SECONDS))
  const waits = waitMillis > 0
  const request: ManageRequest = api.isByKey
    ? {
        method: "GET",
        api: "api/v1",
        path: ["events"],
        query: sent,
        headers: waits ? { prefer: `wait=${seconds}` } : {},
      }
    : { method: "GET", path: ["feed"], query: waits ? [...sent, ["wait", seconds]] : sent }
  return Effect.map(refusedAs(api.text(request), known), (text): FeedResult => {
    const { items, hasMore, nextCursor } = pageOf(text)
    // The feed has a cursor on every page.
    return { items, hasMore, nextCursor: nextCursor ?? "", cursors: null }
  })
}

const filterOf = (params: Pairs): Pairs => params.filter(([name]) => name === "source_id" || name === "channel")

/** A key can only read pages, so these are read up to the position. An empty cursor stands for the beginning. */
const walkTo = (api: ManageApi["Service"], params: Pairs, time: string | null) =>
  Effect.gen(function* () {
    const filter: Pairs = [...filterOf(params), ["limit", String(MAX_LIMIT)]]
    const from = time === null ? null : Date.parse(time)
    const isThere = (text: string) =>
      from !== null && Date.parse((JSON.parse(text) as { readonly received_at: string }).received_at) >= from
    for (let cursor = ""; ;) {
      const page: FeedResult = yield* feedPage(api, [...filter, ["cursor", cursor]])
      if (page.items.texts().some(isThere)) return cursor
      cursor = page.nextCursor
      if (!page.hasMore) return cursor
    }
  })

const NEWEST_BY_TOKEN = new RemoteRefusal({
  code: "forbidden",
  message:
    "An API key in CABINET_TOKEN reads the feed forward: give a place to begin, such as the beginning or a time.",
  param: null,
  retryAfter: 0,
})

const feed = Layer.effect(
  Feed,
  Effect.map(ManageApi, (api) =>
    Feed.of({
      page: (params) => feedPage(api, params),
      start: (params, start) => {
        const at = start === "now" ? start : "last" in start ? null : start.time
        if (api.isByKey)
          return at === null ? Effect.die(NEWEST_BY_TOKEN) : walkTo(api, params, at === "now" ? null : at)
        const where =
          at === null ? (["last", String((start as { last: number }).last)] as const) : (["from", at] as const)
        // Parameters that only pages have do not belong to the start.
        const query = [...filterOf(params), where]
        const request = { method: "GET", path: ["feed", "start"], query } as const
        return Effect.map(refusedAs(api.json<{ readonly cursor: string }>(request), known), ({ cursor }) => cursor)
      },
    }),
  ),
)

const following = Layer.effect(
  FollowFeed,
  Effect.map(ManageApi, (api) =>
    FollowFeed.of({
      // The server waits.
      next: (params, { waitMillis }) =>
        Effect.map(feedPage(api, params, waitMillis), (page) => ({ page, waitedMillis: 0 })),
    }),
  ),
)

export const layer = Layer.merge(feed, following)
