/** The well-known sender that a source's latest request came from, and what the source lacks for it. */
import { Effect, Option } from "effect"
import { lacksFieldsOf, type ProviderName, providerNamed, providerOf } from "../source/Providers.ts"
import type { Source } from "../source/Source.ts"
import { Feed } from "../feed/Feed.ts"
import { EventContext } from "../event/EventContext.ts"

/** A well-known sender whose requests the source does not keep or verify as it could. */
export interface KnownSender {
  readonly provider: ProviderName
  /** Whether the source drops headers with information that the body lacks. */
  readonly dropsFields: boolean
  /** Whether anybody may send in its name. */
  readonly isUnverified: boolean
}

/** Null for a source that lacks nothing, and for one whose sender is unknown. */
export const senderLacking = (userAgent: string | null, source: Source): KnownSender | null => {
  const provider = userAgent === null ? null : providerOf(userAgent)
  if (provider === null) return null
  const sender = { provider, dropsFields: lacksFieldsOf(provider, source), isUnverified: source.verify === null }
  return sender.dropsFields || sender.isUnverified ? sender : null
}

/** The same for the source's latest request, unless its original has been deleted. */
export const knownSender = Effect.fnUntraced(
  function* (source: Source) {
    const feed = yield* Feed
    const params = [
      ["source_id", String(source.id)],
      ["channel", "webhook"],
      ["limit", "1"],
    ] as const
    const cursor = yield* feed.start(params, { last: 1 })
    const [latest] = (yield* feed.page([...params, ["cursor", cursor]])).items.texts()
    if (latest === undefined) return null
    const { id } = JSON.parse(latest) as { readonly id: number }
    const found = yield* EventContext.use((events) => events.find(id))
    return senderLacking(Option.getOrNull(found)?.original?.userAgent ?? null, source)
  },
  // The source was deleted meanwhile.
  Effect.catchTag("FeedError", () => Effect.succeed(null)),
)

/** Which headers are dropped, and how to keep them. */
export const droppedFields = (sourceId: number, provider: ProviderName): string =>
  `${providerNamed(provider).title}, whose headers have information that the body lacks, and the source drops them. Keep them with \`cabinet source set ${sourceId} --from ${provider}\`.`

/** States that nobody checks the signatures, and how to begin. */
export const unverifiedSender = (sourceId: number, provider: ProviderName): string =>
  `The signatures of ${providerNamed(provider).title} are not verified yet. Once you have the secret: cabinet source set ${sourceId} --from ${provider} --verify-secret-file FILE`
