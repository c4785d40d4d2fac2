/** Imports over a real PostgreSQL: the use case, the sheet reader and the loop that continues interrupted imports. */
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import * as AcceptLoop from "@data-cabinet/core/file/AcceptLoop"
import { Import, type ImportOptions, type ImportProgress } from "@data-cabinet/core/file/Import"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { FEED_START, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { fileOnDisk } from "@data-cabinet/http-node/file/FileOnDisk"
import { Effect, Layer, ManagedRuntime, Stream } from "effect"
import { testCabinetLayer } from "./testCabinet.ts"
import { continuedUndos } from "@data-cabinet/core/file/ContinueUndo"

/** `loop`: whether this process continues imports that others left, as a server does. */
export const importCabinet = (url: string, { loop = false }: { readonly loop?: boolean } = {}) => {
  const base = testCabinetLayer(url)
  const runtime = ManagedRuntime.make(
    loop ? Layer.merge(AcceptLoop.layer, continuedUndos).pipe(Layer.provideMerge(base)) : base,
  )
  const file = (
    sourceId: number,
    from: string | ReadableFile,
    options: ImportOptions = {},
    onProgress?: (progress: ImportProgress) => Effect.Effect<void>,
  ) =>
    Effect.gen(function* () {
      const readable = typeof from === "string" ? yield* fileOnDisk(from) : from
      return yield* Import.use((imports) => imports.file(sourceId, readable, options, onProgress))
    })
  return {
    run: runtime.runPromise,
    examine: () => runtime.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine)),
    source: (name: string) => runtime.runPromise(Sources.use((sources) => sources.create({ name }))),
    file: (...args: Parameters<typeof file>) => runtime.runPromise(file(...args)),
    refused: (...args: Parameters<typeof file>) => runtime.runPromise(Effect.flip(file(...args))),
    /** The parsed feed items of a source. */
    feed: (sourceId: number): Promise<ReadonlyArray<any>> =>
      runtime.runPromise(
        FeedStore.use(
          Effect.fnUntraced(function* (feed) {
            const items: Array<any> = []
            let after = FEED_START
            for (;;) {
              const page = yield* feed.page({ after, limit: 1_000, sourceId, channel: null })
              items.push(...page.items.texts().map((item) => JSON.parse(item)))
              after = page.next
              if (!page.hasMore) return items
            }
          }),
        ),
      ),
    close: () => runtime.dispose(),
  }
}

/** A file of text, or of pieces of bytes. */
export const fileOf = (name: string, content: string | ReadonlyArray<Uint8Array>): ReadableFile => {
  const pieces = typeof content === "string" ? [new TextEncoder().encode(content)] : content
  return { name, size: pieces.reduce((sum, piece) => sum + piece.length, 0), bytes: Stream.fromIterable(pieces) }
}
