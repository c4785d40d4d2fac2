/**
 * Intake over a real PostgreSQL and a real HTTP server on the loopback, with access to the results: feed items, rows,
 * original requests and due deliveries.
 */
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import type { MemoryBudget } from "@data-cabinet/core/limit/MemoryBudget"
import { parseNetworks } from "@data-cabinet/core/network/IpAddress"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { type NewSource, Sources } from "@data-cabinet/core/source/Sources"
import { BodyLimits, type Limits } from "@data-cabinet/http-node/intake/BodyLimits"
import { trustedProxies } from "@data-cabinet/http-node/server/ClientAddress"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { Effect, Layer, ManagedRuntime } from "effect"
import { testServerLayer } from "./testCabinet.ts"
import { SnsService } from "@data-cabinet/core/verification/VerifySns"

export interface IntakeOptions {
  /** Requests a minute of a source and of a client; 0 for no limit, as most tests want. */
  readonly intakeRate?: number
  readonly proxies?: ReadonlyArray<string>
  readonly limits?: Partial<Limits>
  /** The memory for submissions. */
  readonly memory?: MemoryBudget
  /** The server's logger or tracer. */
  readonly observed?: Layer.Layer<never>
  /** Replaces Amazon SNS. */
  readonly sns?: SnsService["Service"]
}

const LIMITS: Limits = { maxBytes: 1_048_576, idle: 15_000, total: 60_000, buffered: 256 * 1_048_576, store: 9_000 }

const served = (
  url: string,
  { intakeRate = 0, proxies = [], limits = {}, memory, observed = Layer.empty, sns }: IntakeOptions,
) => {
  const networks = parseNetworks(proxies.join())
  if (typeof networks === "string") throw new Error(`no network: ${networks}`)
  const all = { ...LIMITS, ...limits }
  return testServerLayer(url, {
    baseUrl: "http://cabinet.test",
    settings: { apiRate: 0, intakeRate },
    memory,
    ...(sns === undefined ? {} : { override: Layer.succeed(SnsService, sns) }),
    http: { intakeMaxBytes: all.maxBytes, trustedProxies: trustedProxies(networks) },
  }).pipe(Layer.provide(Layer.succeed(BodyLimits, all)), Layer.provideMerge(observed))
}

/** Serves a database's intake. Call it twice for two servers of one cabinet. */
export const intakeCabinet = async (url: string, options: IntakeOptions = {}) => {
  const runtime = ManagedRuntime.make(served(url, options))
  const { port } = await runtime.runPromise(Listener)
  return {
    port,
    run: runtime.runPromise,
    address: (source: SourceWithSecret) => `http://127.0.0.1:${port}/webhook/${source.intakeSecret}`,
    source: (name: string, settings: Omit<NewSource, "name"> = {}): Promise<SourceWithSecret> =>
      runtime.runPromise(Sources.use((sources) => sources.create({ name, ...settings }))),
    /** The feed items of a source as the JSON texts that are sent. */
    feed: (sourceId: number): Promise<ReadonlyArray<string>> =>
      runtime.runPromise(
        FeedStore.use(
          Effect.fnUntraced(function* (feed) {
            const items: Array<string> = []
            let after = FEED_START
            for (;;) {
              const page = yield* feed.page({ after, limit: 1_000, sourceId, channel: null })
              items.push(...page.items.texts())
              after = page.next
              if (!page.hasMore) return items
            }
          }),
        ),
      ),
    close: () => runtime.dispose(),
  }
}

export type IntakeCabinet = Awaited<ReturnType<typeof intakeCabinet>>

/** The payload of a feed item, token for token. */
export const payloadText = (item: string): string => {
  const start = item.indexOf('"payload":') + '"payload":'.length
  return item.slice(start, item.lastIndexOf(',"repeat_of":'))
}
