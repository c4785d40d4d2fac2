/** An agent's server over a cabinet in memory. */
import { Activity } from "@data-cabinet/core/activity/Activity"
import { type AgentServer, agentServer, readAgentMessage } from "@data-cabinet/core/agent/AgentServer"
import type { AgentReader } from "@data-cabinet/core/agent/AgentTools"
import type { Address } from "@data-cabinet/core/delivery/Address"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import type { Attempt } from "@data-cabinet/core/delivery/Attempt"
import type { AddressQuery } from "@data-cabinet/core/delivery/AddressStore"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { LogQuery } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { FeedError } from "@data-cabinet/core/feed/FeedError"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { Items } from "@data-cabinet/core/pagination/Items"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import type { ReadError } from "@data-cabinet/core/row/ReadError"
import type { Column, Table, TableDetail } from "@data-cabinet/core/row/Table"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { SummarizeRows } from "@data-cabinet/core/selection/SummarizeRows"
import { Effect, Layer, Option, Result } from "effect"

export const pageOf = (...texts: ReadonlyArray<string>) => {
  const ends: Array<number> = []
  let end = -1
  for (const text of texts) ends.push((end += 1 + Buffer.byteLength(text)))
  return { items: new Items(Buffer.from(texts.join(",")), 0, ends), hasMore: false, nextCursor: "c2", cursors: null }
}

export const columnNamed = (name: string): Column => ({ name, type: "text", label: name, comment: null })

export const tableNamed = (name: string, comment: string | null = null): Table => ({
  schema: "sources",
  name,
  kind: "table",
  source: { id: 1, name },
  comment,
  rows_estimate: 2,
})

/** A cabinet with the given objects, which records what is requested. */
export const cabinet = (
  there: {
    readonly tables?: ReadonlyArray<Table>
    readonly detail?: TableDetail
    readonly items?: ReadonlyArray<string>
    readonly scope?: AgentReader["scope"]
    readonly waitedMillis?: number
    /** The rows' next cursor. */
    readonly nextCursor?: null
    readonly rowsFail?: ReadError
    readonly seesAddresses?: boolean
    /** Those that fail. */
    readonly addresses?: ReadonlyArray<Partial<Address>>
    /** The last failed attempt at each of them. */
    readonly lastFailed?: Partial<Attempt>
  } = {},
) => {
  const asked: Array<unknown> = []
  const page = pageOf(...(there.items ?? ['{"n":1.0}']))
  const addresses = (there.addresses ?? []) as ReadonlyArray<Address>
  const ports = Layer.mergeAll(
    Layer.succeed(Activity, { timeZone: Effect.succeed("Europe/Berlin") } as unknown as Activity["Service"]),
    Layer.succeed(Addresses, {
      list: ({ after, limit }: AddressQuery) =>
        Effect.succeed(addresses.filter(({ id }) => id > after).slice(0, limit)),
    } as unknown as Addresses["Service"]),
    Layer.succeed(Deliveries, {
      log: ({ addressId }: LogQuery) =>
        Effect.sync(() => {
          asked.push(["log", addressId])
          return there.lastFailed === undefined ? [] : [there.lastFailed as Attempt]
        }),
    } as unknown as Deliveries["Service"]),
    Layer.succeed(SelectRows, {
      page: async (request) => {
        asked.push(request)
        if (there.rowsFail !== undefined) return Result.fail(there.rowsFail)
        const { nextCursor = page.nextCursor } = there
        return Result.succeed({ ...page, nextCursor, columns: [] })
      },
    }),
    Layer.succeed(SummarizeRows, {
      summary: (request, column) => Effect.sync(() => (asked.push(["summary", request, column]), '{"rows":2}')),
    }),
    Layer.succeed(Feed, {
      page: (params, scope) => Effect.sync(() => (asked.push(["page", params, scope]), page)),
      start: (params, start) =>
        start === "now" || (typeof start === "object" && "time" in start && start.time !== "never")
          ? Effect.sync(() => (asked.push(["start", params, start]), "c1"))
          : Effect.fail(new FeedError({ code: "bad_period", message: "no time", param: "from" })),
    }),
    Layer.succeed(Shapes, { schemas: () => Effect.succeed(new Map()) } as unknown as Shapes["Service"]),
    Layer.succeed(FollowFeed, {
      next: (params, { waitMillis, scope }) =>
        Effect.sync(() => {
          asked.push(["next", params, waitMillis, scope])
          return { page, waitedMillis: there.waitedMillis ?? 0 }
        }),
    }),
  )
  const reader: AgentReader = {
    scope: there.scope ?? null,
    seesAddresses: there.seesAddresses ?? true,
    tables: {
      list: Effect.succeed(there.tables ?? []),
      find: (schema, name) =>
        Effect.sync(() => (asked.push(["find", schema, name]), Option.fromNullishOr(there.detail))),
    },
    waiting: (work) => work({}),
  }
  const server: AgentServer = Effect.runSync(Effect.provide(agentServer, ports))
  /** The response to a message, or its error. */
  const send = async (message: unknown) => {
    const read = readAgentMessage(typeof message === "string" ? message : JSON.stringify(message))
    if (Result.isFailure(read)) return { ...JSON.parse(read.failure), waitedMillis: 0 }
    const response = await Effect.runPromise(server.handle(read.success, reader))
    return response === null ? null : { ...JSON.parse(response.text), waitedMillis: response.waitedMillis }
  }
  /** The texts of a tool's result. */
  const call = async (name: string, given?: object) => {
    const { result, waitedMillis } = await send({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: given },
    })
    const texts = (result.content as ReadonlyArray<{ readonly type: string; readonly text: string }>).map(
      ({ type, text }) => (type === "text" ? text : `a block of type ${type}`),
    )
    return { texts, isError: result.isError as boolean, waitedMillis: waitedMillis as number }
  }
  return { asked, send, call }
}
