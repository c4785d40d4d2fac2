/**
 * The first objects of an empty cabinet: a source, a key and an owner, so that the very first minute shows something.
 * The key and the owner's link are created only if they will be shown: they are never shown again.
 */
import type { IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { IssuedLink } from "@data-cabinet/core/person/Person"
import { invite, People } from "@data-cabinet/core/person/People"
import { Effect } from "effect"

export interface SeededCabinet {
  readonly source: SourceWithSecret
  /** Null if nobody would see it. */
  readonly key: IssuedKey | null
  /** By which the owner signs in to the console; null without a console, or if nobody would see the link. */
  readonly link: IssuedLink | null
}

export interface Seeds {
  readonly key: boolean
  /** Null if the console is not served. */
  readonly owner: string | null
}

const FIRST = { after: 0, limit: 1 }

/**
 * Null for a cabinet that has had a key, valid or revoked, or has a source: its owner has already begun. A run after a
 * failure creates only the missing parts, so that every created secret is shown.
 */
export const seedCabinet = (seeds: Seeds) => {
  const created: { isOurs: boolean | null; source?: SourceWithSecret; key?: IssuedKey | null } = { isOurs: null }
  return Effect.gen(function* () {
    const sources = yield* Sources
    const keys = yield* ApiKeys
    created.isOurs ??= (yield* keys.list(FIRST)).length + (yield* sources.page(FIRST)).length === 0
    if (!created.isOurs) return null
    // The response to an attempt before may have been lost.
    const [found] = created.source === undefined ? yield* sources.page(FIRST) : []
    created.source ??= yield* found === undefined ? sources.create({ name: "First source" }) : sources.reveal(found.id)
    const { source } = created
    const key = (created.key ??= seeds.key ? yield* keys.issue("First key") : null)
    const link = seeds.owner === null ? null : yield* ownersLink(seeds.owner)
    return { source, key, link } satisfies SeededCabinet
  })
}

/** A person may have been added before the first start, by `cabinet console`, and can sign in already. */
const ownersLink = Effect.fnUntraced(function* (name: string) {
  const people = yield* People
  if ((yield* people.list(FIRST)).length > 0) return null
  return yield* invite(people, { name, role: "owner" })
})
