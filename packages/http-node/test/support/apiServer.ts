/** A cabinet on a server for tests of the HTTP frame. The test provides the ports; a missing one dies when it is called. */
import { Activity } from "@data-cabinet/core/activity/Activity"
import { AgentSubscriptions } from "@data-cabinet/core/agent/AgentSubscriptions"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { ClientFollowers } from "@data-cabinet/core/follower/ClientFollowers"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { FeedTailStore } from "@data-cabinet/core/feed/FeedTailStore"
import { FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { keyFingerprint } from "@data-cabinet/core/key/ApiKey"
import { Authenticate, LiveKeyStore, ReaderTokenStore } from "@data-cabinet/core/key/Authenticate"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { SummarizeRows } from "@data-cabinet/core/selection/SummarizeRows"
import type { Source } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import { CabinetHttp } from "@data-cabinet/http-node/routes/CabinetHttp"
import { Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import { Readiness } from "@data-cabinet/http-node/server/Readiness"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { NO_PROXIES } from "@data-cabinet/http-node/server/ClientAddress"
import * as Server from "@data-cabinet/http-node/routes/Server"
import { Effect, Layer, Logger, ManagedRuntime, Option, Result } from "effect"
import type { ReceivedResponse } from "./DescribedResponse.ts"

export const KEY = `dck_${"k".repeat(43)}`
export const OTHER_KEY = `dck_${"o".repeat(43)}`

export const ORDERS: Source = {
  id: 1,
  name: "Заказы",
  archived: false,
  table: { schema: "sources", name: "zakazy" },
  createdAt: "2026-11-21T09:00:00Z",
  encoding: null,
  thanksUrl: null,
  keepHeaders: [],
  headerFields: [],
  keepQuery: false,
  nestBrackets: false,
  verify: null,
  challenge: null,
  proof: null,
  rate: null,
  schema: null,
  honeypot: null,
  allowOrigins: [],
  inbox: null,
  inboxName: null,
  inboxEmail: null,
  inboxSubject: null,
  inboxMessage: null,
  oldSecretUntil: null,
  limited: null,
}

export interface Ports {
  readonly sources?: Partial<Sources["Service"]>
  readonly feed?: Partial<FeedStore["Service"]>
  readonly catalog?: Partial<Catalog["Service"]>
  readonly rows?: Partial<SelectRows["Service"]>
  readonly admission?: Partial<RateLimiter["Service"]>
  readonly intake?: Partial<Intake["Service"]>
  readonly docsUrl?: string
  readonly baseUrl?: string
  readonly apiOrigins?: ReadonlyArray<string>
  readonly notReady?: string
}

const fill = <T extends object>(partial: Partial<T> | undefined): T =>
  new Proxy(partial ?? {}, {
    get: (target, name) =>
      name in target ? Reflect.get(target, name) : Effect.die(new Error(`not here: ${String(name)}`)),
  }) as T

/** Lets KEY and OTHER_KEY pass, counting to `limit` each. */
export const countingAdmission = (limit = 120): RateLimiter["Service"] => {
  const counts = new Map<string, number>()
  const known = [KEY, OTHER_KEY].map((key) => Buffer.from(keyFingerprint(key)).toString("hex"))
  return fill<RateLimiter["Service"]>({
    key: async (fingerprint) => {
      const hex = Buffer.from(fingerprint).toString("hex")
      const keyId = known.indexOf(hex) + 1
      if (keyId === 0) return Result.succeed(null)
      const count = (counts.get(hex) ?? 0) + 1
      counts.set(hex, count)
      const remaining = Math.max(0, limit - count)
      return Result.succeed({ keyId, allowed: count <= limit, limit, remaining, retryAfter: 17 })
    },
  })
}

export const cabinetHttp = (ports: Ports): Layer.Layer<CabinetHttp> =>
  CabinetHttp.layer.pipe(
    Layer.provide([Authenticate.layer, Feed.layer]),
    Layer.provide([
      Layer.succeed(RateLimiter, fill({ ...countingAdmission(), ...ports.admission })),
      Layer.succeed(LiveKeyStore, fill(undefined)),
      Layer.succeed(FollowFeed, fill(undefined)),
      Layer.succeed(ClientFollowers, fill(undefined)),
      Layer.succeed(AgentSubscriptions, fill(undefined)),
      Layer.succeed(Activity, fill(undefined)),
      Layer.succeed(Shapes, fill<Shapes["Service"]>({ schemas: () => Effect.succeed(new Map()) })),
      Layer.succeed(Addresses, fill(undefined)),
      Layer.succeed(Deliveries, fill(undefined)),
      Layer.succeed(ReaderTokenStore, { count: async () => Result.succeed(null) }),
      Layer.succeed(
        Sources,
        fill<Sources["Service"]>({
          list: Effect.succeed([ORDERS]),
          get: (id) => Effect.succeed(id === ORDERS.id ? Option.some(ORDERS) : Option.none()),
          ...ports.sources,
        }),
      ),
      Layer.succeed(FeedStore, fill(ports.feed)),
      Layer.succeed(FeedTailStore, fill(undefined)),
      Layer.succeed(CursorKeys, { key: Effect.succeed(new CursorKey(Buffer.alloc(32, 7))) }),
      Layer.succeed(Catalog, fill(ports.catalog)),
      Layer.succeed(SelectRows, fill(ports.rows)),
      Layer.succeed(SummarizeRows, fill(undefined)),
      Layer.succeed(Intake, fill(ports.intake)),
      Layer.succeed(HttpSettings, {
        baseUrl: ports.baseUrl ?? "https://orders.cabinet.test",
        docsUrl: ports.docsUrl ?? null,
        apiOrigins: ports.apiOrigins ?? [],
        trustedProxies: NO_PROXIES,
      }),
    ]),
  )

export const readiness = (missing: string | null = null) => Layer.succeed(Readiness, { check: Effect.succeed(missing) })

export interface ApiServer {
  readonly base: string
  /** The log. */
  readonly logged: ReadonlyArray<string>
  /** Requests with KEY unless the headers say otherwise. */
  readonly ask: (path: string, init?: RequestInit) => Promise<ReceivedResponse & { readonly json: any }>
  readonly close: () => Promise<void>
}

export const serveApi = async (ports: Ports = {}): Promise<ApiServer> => {
  const logged: Array<string> = []
  const logger = Logger.make(({ message, cause }) => {
    logged.push(`${JSON.stringify(message)} ${String(cause)}`)
  })
  const runtime = ManagedRuntime.make(
    Server.layer({ metrics: true, host: "127.0.0.1", port: 0 }).pipe(
      Layer.provide([Cabinets.single, readiness(ports.notReady ?? null)]),
      Layer.provide(cabinetHttp(ports)),
      Layer.provide(Logger.layer([logger])),
    ),
  )
  const { port } = await runtime.runPromise(Listener)
  const base = `http://127.0.0.1:${port}`
  return {
    base,
    logged,
    ask: async (path, init = {}) => {
      const response = await fetch(base + path, {
        redirect: "manual",
        ...init,
        headers: { authorization: `Bearer ${KEY}`, ...init.headers },
      })
      const answer = { status: response.status, headers: response.headers, text: await response.text() }
      const json = response.headers.get("content-type") === "application/json" && answer.text !== ""
      return { ...answer, json: json ? JSON.parse(answer.text) : undefined }
    },
    close: () => runtime.dispose(),
  }
}
