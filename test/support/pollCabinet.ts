/** Polling over a real PostgreSQL and real sockets on the loopback, which only tests allow as a network. */
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import type { NewPoll } from "@data-cabinet/core/poll/Poll"
import { PollStore } from "@data-cabinet/core/poll/PollStore"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { Sources } from "@data-cabinet/core/source/Sources"
import * as PinnedAddressCheck from "@data-cabinet/delivery/delivery/PinnedAddressCheck"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import * as NameLookup from "@data-cabinet/delivery/outgoing/NameLookup"
import * as PinnedClient from "@data-cabinet/delivery/outgoing/PinnedClient"
import * as HttpPollFetch from "@data-cabinet/delivery/poll/HttpPollFetch"
import * as PollLoop from "@data-cabinet/delivery/poll/PollLoop"
import { Effect, Layer, ManagedRuntime } from "effect"
import { testCabinetLayer } from "./testCabinet.ts"

export interface PollOptions extends HttpPollFetch.HttpPollFetchOptions {
  /** Default: the loopback. */
  readonly allowed?: ReadonlyArray<string>
  readonly loop?: boolean
}

export const pollCabinet = (url: string, { allowed = ["127.0.0.0/8"], loop = false, ...fetch }: PollOptions = {}) => {
  const networks = allowed.map((network) => parseNetwork(network)!)
  const override = Layer.merge(HttpPollFetch.layer(fetch), PinnedAddressCheck.layer).pipe(
    Layer.provide(PinnedClient.layer({ allowedNetworks: networks })),
    Layer.provide(NameLookup.layer({ hostsFile: "/dev/null" })),
  )
  const base = testCabinetLayer(url, { override })
  const runtime = ManagedRuntime.make(loop ? PollLoop.layer({ checkMillis: 100 }).pipe(Layer.provideMerge(base)) : base)
  return {
    runtime,
    source: (name: string) => runtime.runPromise(Sources.use((sources) => sources.create({ name }))),
    add: (poll: Partial<NewPoll> & Pick<NewPoll, "sourceId" | "url">) =>
      runtime.runPromise(Polls.use((polls) => polls.add({ everySeconds: 60, ...poll }))),
    refused: (poll: Partial<NewPoll> & Pick<NewPoll, "sourceId" | "url">) =>
      runtime.runPromise(Effect.flip(Polls.use((polls) => polls.add({ everySeconds: 60, ...poll })))),
    run: (id: number) => runtime.runPromise(Polls.use((polls) => polls.run(id))),
    polls: <A, E>(use: (polls: Polls["Service"]) => Effect.Effect<A, E>) => runtime.runPromise(Polls.use(use)),
    book: <A, E>(use: (book: PollStore["Service"]) => Effect.Effect<A, E>) => runtime.runPromise(PollStore.use(use)),
    events: (sourceId: number): Promise<ReadonlyArray<any>> =>
      runtime.runPromise(
        FeedStore.use((feed) => feed.page({ after: FEED_START, limit: 1_000, sourceId, channel: null })).pipe(
          Effect.map((page) => page.items.texts().map((item) => JSON.parse(item))),
        ),
      ),
    close: () => runtime.dispose(),
  }
}
