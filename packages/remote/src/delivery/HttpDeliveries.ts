/** The deliveries of a remote cabinet, and the log of their attempts. */
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import type { Attempt, Delivery } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries, type DeliveryQuery } from "@data-cabinet/core/delivery/Deliveries"
import {
  type DeliveryFilter,
  type LogQuery,
  type ResendRange,
  deliveryCursor,
  deliveryPlace,
} from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"
import { serverOnly } from "../http/RemoteSettings.ts"

const known = ofCodes(AddressError)

/** The most that the API returns at once. */
const MAX_PAGE = 1000

interface ListJson {
  readonly data: ReadonlyArray<Delivery>
  readonly nextCursor: string | null
  readonly searchedTo: string | null
}

/** A filter as the API names it. */
const filterJson = ({ addressId, eventId, sourceId, state, outcome, type, retrying, from, to }: DeliveryFilter) =>
  Object.entries({
    address_id: addressId,
    event_id: eventId,
    source_id: sourceId,
    state,
    outcome,
    type,
    retrying,
    from,
    to,
  }).filter(([, value]) => value !== null && value !== undefined && value !== false)

const listOf = (api: ManageApi["Service"], { limit, before, ...filter }: DeliveryQuery) => {
  const place = before === null ? [] : [["before", deliveryCursor(before)] as const]
  const query = [["limit", limit] as const, ...place, ...filterJson(filter)].map(
    ([name, value]) => [name, String(value)] as const,
  )
  return Effect.map(
    refusalAsDefect(api.json<ListJson>({ method: "GET", path: ["deliveries"], query })),
    ({ data, nextCursor, searchedTo }) => ({
      items: data,
      next: nextCursor === null ? null : (deliveryPlace(nextCursor) ?? null),
      searchedTo,
    }),
  )
}

export const layer = Layer.effect(
  Deliveries,
  Effect.map(ManageApi, (api) => {
    const one = (method: "GET" | "POST", id: number, ...act: ReadonlyArray<string>) =>
      refusedAs(api.json<Delivery>({ method, path: ["deliveries", id, ...act] }), known)

    const page = ({ addressId, before, failedOnly = false }: LogQuery, limit: number) =>
      api.json<{ readonly data: ReadonlyArray<Attempt>; readonly nextCursor: string | null }>({
        method: "GET",
        path: ["addresses", addressId, "attempts"],
        query: [
          ["limit", String(limit)],
          ...(before === undefined ? [] : [["before", before] as const]),
          ...(failedOnly ? [["failed", "true"] as const] : []),
        ],
      })

    const log = Effect.fnUntraced(function* (query: LogQuery) {
      const attempts: Array<Attempt> = []
      let before = query.beforeDelivery === undefined ? query.before : `${query.before}_${query.beforeDelivery}`
      while (attempts.length < query.limit) {
        const limit = Math.min(MAX_PAGE, query.limit - attempts.length)
        const { data, nextCursor } = yield* page({ ...query, ...(before === undefined ? {} : { before }) }, limit)
        for (const attempt of data) attempts.push(attempt)
        if (nextCursor === null) break
        before = nextCursor
      }
      return attempts
    })

    const range = ({ addressId, ...body }: ResendRange, dry_run: boolean) =>
      Effect.map(
        refusedAs(
          api.json<{ readonly count: number }>({
            method: "POST",
            path: ["addresses", addressId, "resend"],
            body: { ...body, dry_run },
          }),
          known,
        ),
        ({ count }) => count,
      )

    const listed = (filter: DeliveryFilter, dry_run: boolean) => {
      const conditions = filterJson(filter)
      const isAll = conditions.length === 0 && !dry_run
      const body = { ...Object.fromEntries(conditions), ...(isAll ? { all: true } : {}), dry_run }
      const sent = api.json<{ readonly count: number }>({ method: "POST", path: ["deliveries", "resend"], body })
      return Effect.map(refusalAsDefect(sent), ({ count }) => count)
    }

    return Deliveries.of({
      find: (id) => one("GET", id),
      attemptsOf: (id) =>
        Effect.map(
          refusalAsDefect(
            api.json<{ readonly log: ReadonlyArray<Attempt> }>({ method: "GET", path: ["deliveries", id] }),
          ),
          ({ log: attempts }) => attempts,
        ),
      list: (query) => listOf(api, query),
      requestOf: () => serverOnly("The request of a delivery"),
      ofEvent: () => serverOnly("A list of one event's deliveries"),
      log: (query) => refusedAs(log(query), known),
      resend: (id) => one("POST", id, "resend"),
      resendRange: (chosen) => range(chosen, false),
      countRange: (chosen) => range(chosen, true),
      resendListed: (filter) => listed(filter, false),
      countListed: (filter) => listed(filter, true),
      cancel: (id) => one("POST", id, "cancel"),
    })
  }),
)
