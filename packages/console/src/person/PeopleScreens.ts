/** The screens and acts of people, their sessions, and access tokens. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import type { Table } from "@data-cabinet/core/row/Table"
import type { IssuedAccessToken } from "@data-cabinet/core/key/AccessToken"
import type { PersonRole, Role } from "@data-cabinet/core/key/Role"
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { invite, People } from "@data-cabinet/core/person/People"
import type { IssuedLink } from "@data-cabinet/core/person/Person"
import { Sessions, sessionsOf } from "@data-cabinet/core/person/Sessions"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import type { Frame } from "../html/Shell.ts"
import { act, fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, ScreenCall } from "../screen/ConsoleScreen.ts"
import { pageLinks, shownPage } from "../screen/IdPages.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { lifetimeOf } from "./Lifetime.ts"
import { peopleScreen, personScreen } from "./PeopleScreen.ts"
import { sessionListScreen } from "./SessionListScreen.ts"
import { tokenScreen } from "./TokenScreen.ts"

/** Each page begins below the last id of the one before. */
const newestFirst =
  (sessions: Sessions["Service"], personId: number | null) =>
  ({ after, limit }: IdQuery) =>
    sessions.list(personId, { before: after === 0 ? null : after, limit })

const personScreens = Effect.gen(function* () {
  const people = yield* People
  const sessions = yield* Sessions
  const { timeZone } = yield* ConsoleSettings
  const list = ({ frame, pairs }: ScreenCall, issued: IssuedLink | null) =>
    Effect.map(shownPage(people.list, valueOf(pairs, "after")), (page) => ({
      screen: peopleScreen(frame, { people: page.items, timeZone, issued }, pageLinks(frame, page, "people")),
    }))
  const one = Effect.fnUntraced(function* (
    { frame, path: [id], session, pairs }: ScreenCall,
    issued: IssuedLink | null,
  ) {
    const person = yield* people.get(idOf(id))
    const live = yield* shownPage(newestFirst(sessions, person.id), valueOf(pairs, "after"))
    return { screen: personScreen(frame, { person, sessions: live, current: session?.id ?? null, timeZone, issued }) }
  })
  const path = "/console/people/{id}" as const
  const home = ([id]: ReadonlyArray<string>) => `people/${id}`
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/people",
      action: "person.read",
      get: (call) => list(call, null),
      post: {
        action: "person.change",
        repeat: "once",
        respond: Effect.fnUntraced(function* (call) {
          // Any word is passed on: the use case checks the role.
          const role = fieldOf(call, "role") as PersonRole
          return yield* list(call, yield* invite(people, { name: fieldOf(call, "name"), role }))
        }),
      },
      back: () => "people",
    },
    { path, action: "person.read", get: (call) => one(call, null) },
    act({
      path: `${path}/change`,
      action: "person.change",
      home,
      repeat: "allowed",
      respond: (call) => {
        const role = fieldOf(call, "role") as PersonRole
        return Effect.as(people.set(idOf(call.path[0]), { name: fieldOf(call, "name"), role }), null)
      },
    }),
    act({
      path: `${path}/link`,
      action: "person.change",
      home,
      repeat: "once",
      respond: (call) => Effect.flatMap(people.link(idOf(call.path[0])), (issued) => one(call, issued)),
    }),
    act({
      path: `${path}/sign-out`,
      action: "person.change",
      home,
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(sessions.endAll(idOf(id)), null),
    }),
    act({
      path: `${path}/remove`,
      action: "person.change",
      home: () => "people",
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const person = yield* people.get(idOf(call.path[0]))
        if (fieldOf(call, "confirm") !== person.name) {
          const message = "Nobody was removed: type the person's name."
          return yield* Effect.fail<ManageError>({ code: "bad_param", message, param: "confirm" })
        }
        yield* people.remove(person.id)
        return null
      }),
    }),
  ]
  return screens
})

const sessionScreens = Effect.gen(function* () {
  const sessions = yield* Sessions
  const { timeZone } = yield* ConsoleSettings
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/sessions",
      action: "session.read",
      get: ({ frame, actor, session, pairs }) =>
        Effect.map(shownPage(newestFirst(sessions, sessionsOf(actor!)), valueOf(pairs, "after")), (page) => ({
          screen: sessionListScreen(
            frame,
            { sessions: page.items, current: session?.id ?? null, timeZone },
            pageLinks(frame, page, "sessions"),
          ),
        })),
    },
    act({
      path: "/console/sessions/{id}/end",
      action: "session.end",
      home: () => "sessions",
      repeat: "allowed",
      respond: ({ path: [id], actor }) => Effect.as(sessions.end(idOf(id), sessionsOf(actor!)), null),
    }),
  ]
  return screens
})

const tokenScreens = Effect.gen(function* () {
  const tokens = yield* AccessTokens
  const catalog = yield* Catalog
  const { timeZone } = yield* ConsoleSettings
  // Tokens can be issued and revoked even while nothing can be read.
  const readable = Effect.orElseSucceed(catalog.list, (): ReadonlyArray<Table> => [])
  const list = (frame: Frame, issued: IssuedAccessToken | null, after?: string) =>
    Effect.map(Effect.all([shownPage(tokens.list, after), readable]), ([page, tables]) => ({
      screen: tokenScreen(frame, { tokens: page, tables, timeZone, issued }),
    }))
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/tokens",
      action: "token.read",
      get: ({ frame, pairs }) => list(frame, null, valueOf(pairs, "after")),
      post: {
        action: "token.change",
        repeat: "once",
        respond: Effect.fnUntraced(function* (call) {
          const expiresInSeconds = yield* lifetimeOf(call)
          const role = fieldOf(call, "role") as Role
          const marked = fieldsOf(call, "only")
          const only = marked.length === 0 ? null : marked
          const issued = yield* tokens.issue({ name: fieldOf(call, "name"), role, only, expiresInSeconds })
          return yield* list(call.frame, issued)
        }),
      },
      back: () => "tokens",
    },
    act({
      path: "/console/tokens/{id}/revoke",
      action: "token.change",
      home: () => "tokens",
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(tokens.revoke(idOf(id)), null),
    }),
  ]
  return screens
})

export const peopleScreens = Effect.map(Effect.all([personScreens, sessionScreens, tokenScreens]), (all) => all.flat())
