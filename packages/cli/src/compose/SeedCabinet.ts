/**
 * The first objects of an empty cabinet: a source and a key, so that the very first minute shows something. The key is
 * created only if it will be shown to somebody: it is never shown again.
 */
import type { IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"

export interface SeededCabinet {
  readonly source: SourceWithSecret
  /** Null if nobody would see it. */
  readonly key: IssuedKey | null
}

/** Null for a cabinet that has had a key, valid or revoked, or has a source: its owner has already begun. */
export const seedCabinet = Effect.fnUntraced(function* (withKey: boolean) {
  const sources = yield* Sources
  const keys = yield* ApiKeys
  const begun = (yield* keys.list).length + (yield* sources.list).length > 0
  if (begun) return null
  const source = yield* sources.create({ name: "First source" })
  const key = withKey ? yield* keys.issue("First key") : null
  return { source, key } satisfies SeededCabinet
})
