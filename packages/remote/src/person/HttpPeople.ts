/** The people of a remote cabinet, and their sessions, to be ended. Setting a password requires a signed-in person, so a token cannot do it. */
import { People } from "@data-cabinet/core/person/People"
import type { Person, Session } from "@data-cabinet/core/person/Person"
import { PersonError } from "@data-cabinet/core/person/PersonError"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { Effect, Layer } from "effect"
import { idPages, ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"
import { lookup, serverOnly } from "../http/RemoteSettings.ts"

const known = ofCodes(PersonError)

/** As the API shows it, once. */
interface SentLink extends Person {
  readonly link: string
  readonly linkExpiresAt: string
}

/** The server returns only the secret of a link; the address before it is the one that the caller knows. */
const issued = ({ link, ...person }: SentLink) => ({
  person,
  secret: link.slice(link.indexOf("#") + 1),
  expiresAt: person.linkExpiresAt,
})

const people = Layer.effect(
  People,
  Effect.map(ManageApi, (api) => {
    const one = <A = Person>(method: "GET" | "POST" | "PATCH", path: ReadonlyArray<string | number>, body?: object) =>
      refusedAs(api.json<A>({ method, path: ["people", ...path], ...(body === undefined ? {} : { body }) }), known)
    const list = (query: IdQuery) => refusalAsDefect(idPages<Person>(api, "people", query))
    const listed = (id: number) =>
      Effect.map(list({ after: id - 1, limit: 1 }), (found) => found.find((person) => person.id === id))
    const get = Effect.fnUntraced(function* (id: number) {
      const found = yield* listed(id)
      return found ?? (yield* new PersonError({ code: "no_such_person", message: `Person ${id} does not exist.` }))
    })
    return People.of({
      add: ({ name, role }) => Effect.map(one<SentLink>("POST", [], { name, role }), (sent) => issued(sent).person),
      list,
      get,
      set: (id, { name, role }) => one("PATCH", [id], { name, role }),
      remove: Effect.fnUntraced(function* (id) {
        const person = yield* lookup(get(id))
        yield* refusedAs(api.text({ method: "DELETE", path: ["people", id] }), known)
        // One of an issuer stays listed.
        return (yield* listed(id)) ?? person
      }),
      link: (id) => Effect.map(one<SentLink>("POST", [id, "link"]), issued),
      setPassword: () => serverOnly("The change of a password"),
      resolveExternal: () => serverOnly("Sign-in"),
    })
  }),
)

const sessions = Layer.effect(
  Sessions,
  Effect.map(ManageApi, (api) =>
    Sessions.of({
      find: () => serverOnly("Sign-in"),
      peek: () => serverOnly("Sign-in"),
      list: (_personId, { before, limit }) =>
        refusalAsDefect(idPages<Session>(api, "sessions", { after: before ?? 0, limit }, [], "before")),
      end: (id) => Effect.asVoid(refusedAs(api.text({ method: "DELETE", path: ["sessions", id] }), known)),
      endAll: (id) =>
        Effect.map(
          refusalAsDefect(api.json<{ readonly count: number }>({ method: "POST", path: ["people", id, "sign-out"] })),
          ({ count }) => count,
        ),
    }),
  ),
)

export const layer = Layer.merge(people, sessions)
