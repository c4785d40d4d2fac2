/**
 * Resolves the source, delivery address, key, follower or destination that a user names: by its number, or by its name, an address by its URL. A
 * number is always the id: a source called `7` is named by its id from `source list`.
 */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { allItems, eachItem } from "@data-cabinet/core/pagination/IdPages"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { Followers } from "@data-cabinet/core/follower/Followers"
import { CLIENT_KIND } from "@data-cabinet/core/follower/FollowerStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { nearest } from "@data-cabinet/core/text/Nearest"
import { lookup } from "@data-cabinet/remote/http/RemoteSettings"
import { Effect } from "effect"
import { Argument } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"

interface Named {
  readonly id: number
  readonly called: string
}

const idOf = (given: string): number | null => {
  const id = /^[1-9]\d*$/.test(given) ? Number(given) : Number.NaN
  return Number.isSafeInteger(id) ? id : null
}

/** `kind` is the object's name in a sentence. Refuses a name that matches nothing, or more than one object. */
const resolve = <E, R>(kind: string, given: string, list: Effect.Effect<ReadonlyArray<Named>, E, R>) =>
  Effect.gen(function* () {
    const id = idOf(given)
    if (id !== null) return id
    const all = yield* lookup(list)
    const found = all.filter(({ called }) => called === given)
    if (found.length === 1) return found[0]!.id
    const numbers = found.map((one) => one.id).join(", ")
    const meant = nearest(
      given,
      all.map(({ called }) => called),
    )
    const hint = meant === null ? `See: cabinet ${kind} list` : `Did you mean ${JSON.stringify(meant)}?`
    return yield* new CommandError({
      code: "refused",
      message:
        found.length === 0
          ? `There is no ${kind} named ${JSON.stringify(given)}. ${hint}`
          : `More than one ${kind} is named ${JSON.stringify(given)}: ${numbers}. Use the number instead of the name.`,
    })
  })

export const sourceNamed = (given: string) =>
  resolve(
    "source",
    given,
    Sources.use(({ list }) => Effect.map(list, (all) => all.map(({ id, name }) => ({ id, called: name })))),
  )

export const addressNamed = (given: string) =>
  resolve(
    "address",
    given,
    Addresses.use(({ list }) => eachItem(list, ({ id, url }) => (url === given ? { id, called: url } : null))),
  )

/** Among keys with one name revoked ones are ignored, unless all are revoked. */
export const keyNamed = (given: string) =>
  resolve(
    "key",
    given,
    ApiKeys.use(({ list }) =>
      Effect.map(allItems(list), (all) => {
        const hasGood = all.some(({ name, revokedAt }) => name === given && revokedAt === null)
        const meant = all.filter(({ revokedAt }) => revokedAt === null || !hasGood)
        return meant.map(({ id, name }) => ({ id, called: name }))
      }),
    ),
  )

export const destinationNamed = (given: string) =>
  resolve(
    "destination",
    given,
    Destinations.use(({ list }) =>
      Effect.map(list, (all) => all.map(({ id, location }) => ({ id, called: location }))),
    ),
  )

/** Among the followers of clients: the cabinet's own have no position that a user sets. */
export const followerNamed = (given: string) =>
  resolve(
    "follower",
    given,
    Followers.use(({ list }) =>
      Effect.map(list, (all) =>
        all.filter(({ kind }) => kind === CLIENT_KIND).map(({ id, name }) => ({ id, called: name })),
      ),
    ),
  )

const named = (name: string, about: string) => Argument.String(name).pipe(Argument.withDescription(about))

/** The name of a new object, or a new name. */
export const nameArgument = (about: string) => named("NAME", about)
export const sourceArgument = (name = "SOURCE") => named(name, "The source's number or name")
export const addressArgument = named("ID", "The address's number or URL")
export const followerArgument = named("NAME", "The number or name of a client's follower")
export const destinationArgument = named("ID", "The destination's number or place")
export const keyArgument = named("ID", "The key's number or name")
