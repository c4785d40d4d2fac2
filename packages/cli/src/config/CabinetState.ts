/** What a cabinet has of what a file describes. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { People } from "@data-cabinet/core/person/People"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Clock, Effect } from "effect"
import type { Held } from "./PlanAccess.ts"
import type { SectionName } from "./FileSchema.ts"

/** The valid ones. Of several with one name, as after a rotation, the last one counts. */
const validOf = <K extends Held & { readonly revokedAt: string | null }>(all: ReadonlyArray<K>, now: number) => {
  const valid = all.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now),
  )
  return [...new Map(valid.map((key) => [key.name, key])).values()]
}

/** Reads what these sections need; the rest is empty. Only valid keys and tokens count. */
export const cabinetState = Effect.fnUntraced(function* (sections: ReadonlyArray<SectionName>) {
  const needs = (...names: ReadonlyArray<SectionName>) => names.some((name) => sections.includes(name))
  const now = yield* Clock.currentTimeMillis
  return {
    sources: needs("sources", "addresses", "polls", "destinations") ? yield* Sources.use(({ list }) => list) : [],
    addresses: needs("addresses") ? yield* Addresses.use(({ list }) => allItems(list)) : [],
    polls: needs("polls") ? yield* Polls.use(({ list }) => allItems(list)) : [],
    destinations: needs("destinations") ? yield* Destinations.use(({ list }) => list) : [],
    keys: needs("keys") ? validOf(yield* ApiKeys.use(({ list }) => allItems(list)), now) : [],
    tokens: needs("tokens") ? validOf(yield* AccessTokens.use(({ list }) => allItems(list)), now) : [],
    people: needs("people") ? yield* People.use(({ list }) => allItems(list)) : [],
    schemas: needs("schemas") ? yield* SchemaGrants.use(({ list }) => list) : [],
  }
})

/** The state that was read. */
export type CabinetState = Effect.Success<ReturnType<typeof cabinetState>>
