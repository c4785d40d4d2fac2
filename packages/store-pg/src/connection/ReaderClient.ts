/**
 * The reader's connections: a LOGIN role of its own that may select and nothing else. Reads never run on the owner's
 * connection under another role, for a customer's view could set the role back.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SESSION } from "./OwnerClient.ts"

/** The reader's pool, or none where there is no reader: then reading is off. */
export class ReaderClient extends Context.Service<
  ReaderClient,
  {
    readonly client: Option.Option<PgClient.PgClient>
    /** The role's name, as privileges are asked for it. */
    readonly role: string
    /** Why reading is off, in words; empty while it is on. */
    readonly offReason: string
  }
>()("@data-cabinet/store-pg/connection/ReaderClient") {}

export interface ReaderOptions {
  readonly url: string
  readonly role: string
  readonly maxConnections?: number
}

export const layer = (options: ReaderOptions) =>
  Layer.effect(
    ReaderClient,
    PgClient.PgClient.use((client) =>
      Effect.succeed(ReaderClient.of({ client: Option.some(client), role: options.role, offReason: "" })),
    ),
  ).pipe(
    Layer.provide(
      PgClient.layer({
        url: Redacted.make(options.url),
        maxConnections: options.maxConnections ?? 8,
        idleTimeout: "60 seconds",
        connectTimeout: "5 seconds",
        applicationName: "data-cabinet reader",
        startupParameters: { ...SESSION, search_path: "pg_catalog", default_transaction_read_only: "on" },
      }),
    ),
  )

/** Reading switched off, with the reason that `reader_off` answers carry. */
export const layerOff = (role: string, offReason: string) =>
  Layer.succeed(ReaderClient, ReaderClient.of({ client: Option.none(), role, offReason }))
