/** People and sessions over the management API. A link is shown once, when it is made; sign-in itself is the console's. */
import { hasNoPassword } from "@data-cabinet/core/person/PersonError"
import { PERSON_ROLES } from "@data-cabinet/core/key/Role"
import { invite, People } from "@data-cabinet/core/person/People"
import {
  invitedPerson,
  invitedPersonShape,
  type IssuedLink,
  linkUrl,
  personShape,
  sessionShape,
} from "@data-cabinet/core/person/Person"
import { Sessions, sessionsOf } from "@data-cabinet/core/person/Sessions"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint, type Once } from "../manage/ManageEndpoint.ts"
import { beforeIdParameter, idPageParameters, idSegment, limitParameter } from "../manage/ManageParameters.ts"
import { countShape, idPage, list, nothing, one, pageOf } from "../manage/ManageResponses.ts"
import { HttpSettings } from "../server/HttpSettings.ts"

const nameField = text(100, "A name of 1 to 100 characters.").check(Schema.isMinLength(1))
const roleField = Schema.Literals(PERSON_ROLES).annotate({ description: "What they may do." })
export const newPerson = Schema.Struct({ name: nameField, role: roleField })
const changedPerson = Schema.Struct({ name: Schema.optionalKey(nameField), role: Schema.optionalKey(roleField) })
const newPassword = Schema.Struct({
  password: text(400, "The new one: 12 to 200 characters."),
  current: Schema.optionalKey(text(400, "The previous one; not needed right after a sign-in by link.")),
})

const named = {
  errors: ["bad_name", "name_taken"],
  params: { bad_name: "/name", name_taken: "/name", no_such_person: "id" },
} as const

export const managePeople = Effect.gen(function* () {
  const people = yield* People
  const { baseUrl } = yield* HttpSettings
  const id = idSegment("The person's id.")
  const found = { errors: ["no_such_person"], params: { no_such_person: "id" } } as const
  const withLink = (issued: IssuedLink) =>
    invitedPersonShape.json(invitedPerson(issued, linkUrl(baseUrl, issued.secret)))
  const once: Once = { completed: "transaction", withheld: ["link"], replay: one(personShape, "The person.") }
  return [
    manageEndpoint({
      id: "listPeople",
      tag: "People",
      method: "GET",
      path: "/manage/v1/people",
      summary: "All people",
      description: "By id. For the next page send `next_cursor` as `after`.",
      action: "person.read",
      parameters: idPageParameters,
      response: list(personShape, "The people."),
      respond: ({ query }) => idPage(people.list, query, personShape.json),
    }),
    manageEndpoint({
      ...named,
      id: "invitePerson",
      tag: "People",
      method: "POST",
      path: "/manage/v1/people",
      summary: "Invite a person",
      description: "With a one-time link that is shown only in this response. It is valid for a day.",
      action: "person.change",
      once,
      body: newPerson,
      response: one(invitedPersonShape, "The person.", 201),
      respond: ({ body }) => Effect.map(invite(people, body), withLink),
    }),
    manageEndpoint({
      ...named,
      id: "changePerson",
      tag: "People",
      method: "PATCH",
      path: "/manage/v1/people/{id}",
      summary: "Change a person's name or role",
      description: "In force from their next request. The last owner cannot be given a lesser role.",
      action: "person.change",
      segments: [id],
      body: changedPerson,
      errors: [...named.errors, "no_such_person", "last_owner"],
      response: one(personShape, "The person."),
      respond: ({ path: [person], body }) => Effect.map(people.set(person, body), personShape.json),
    }),
    manageEndpoint({
      ...found,
      id: "removePerson",
      tag: "People",
      method: "DELETE",
      path: "/manage/v1/people/{id}",
      summary: "Remove a person",
      description: "Their sessions and links end. The last owner cannot be removed.",
      action: "person.change",
      segments: [id],
      errors: ["no_such_person", "last_owner"],
      response: nothing("They are removed."),
      respond: ({ path: [person] }) => Effect.as(people.remove(person), undefined),
    }),
    manageEndpoint({
      ...found,
      id: "linkPerson",
      tag: "People",
      method: "POST",
      path: "/manage/v1/people/{id}/link",
      summary: "A new one-time link for a person",
      description:
        "The previous link is no longer valid. The new one is valid for ten minutes, or for a day if the person has never signed in.",
      action: "person.change",
      segments: [id],
      once,
      errors: ["no_such_person", "foreign_person"],
      response: one(invitedPersonShape, "The person with the link.", 201),
      respond: ({ path: [person] }) => Effect.map(people.link(person), withLink),
    }),
    ...(yield* sessionEndpoints),
  ]
})

const sessionEndpoints = Effect.gen(function* () {
  const people = yield* People
  const sessions = yield* Sessions
  const id = idSegment("The person's id.")
  return [
    manageEndpoint({
      id: "signOutPerson",
      tag: "People",
      method: "POST",
      path: "/manage/v1/people/{id}/sign-out",
      summary: "Sign a person out everywhere",
      description: "All their sessions end.",
      action: "person.change",
      segments: [id],
      response: one(countShape, "How many sessions ended."),
      respond: ({ path: [person] }) => Effect.map(sessions.endAll(person), (count) => ({ count })),
    }),
    manageEndpoint({
      id: "listSessions",
      tag: "People",
      method: "GET",
      path: "/manage/v1/sessions",
      summary: "Active sessions",
      description:
        "The caller's own, newest first; an owner sees all people's. For the next page send `next_cursor` as `before`.",
      action: "session.read",
      parameters: [{ ...limitParameter, schema: { ...limitParameter.schema, default: MAX_LIMIT } }, beforeIdParameter],
      response: list(sessionShape, "The sessions."),
      respond: ({ actor, query: { limit = MAX_LIMIT, before = null } }) =>
        Effect.map(sessions.list(sessionsOf(actor), { before, limit: limit + 1 }), (found) => {
          const { data, ...rest } = pageOf(found, limit, (session) => String(session.id))
          return { data: data.map(sessionShape.json), ...rest }
        }),
    }),
    manageEndpoint({
      id: "endSession",
      tag: "People",
      method: "DELETE",
      path: "/manage/v1/sessions/{id}",
      summary: "End a session",
      description: "One of the caller's own; an owner may end anyone's.",
      action: "session.end",
      segments: [idSegment("The session's id.")],
      errors: ["no_such_session"],
      params: { no_such_session: "id" },
      response: nothing("It has ended."),
      respond: ({ actor, path: [session] }) => Effect.as(sessions.end(session, sessionsOf(actor)), undefined),
    }),
    manageEndpoint({
      id: "signOutEverywhere",
      tag: "Self",
      method: "POST",
      path: "/manage/v1/me/sign-out",
      summary: "Sign out everywhere",
      description: "All sessions of the caller end, including this one.",
      action: "session.end",
      response: one(countShape, "How many sessions ended."),
      respond: ({ actor }) =>
        actor.kind === "person" && actor.id !== null
          ? Effect.map(sessions.endAll(actor.id), (count) => ({ count }))
          : Effect.succeed({ count: 0 }),
    }),
    manageEndpoint({
      id: "setPassword",
      tag: "Self",
      method: "POST",
      path: "/manage/v1/me/password",
      summary: "Set your own password",
      description: "The person's other sessions end. A token has no password.",
      action: "session.end",
      body: newPassword,
      errors: ["bad_password", "wrong_password", "no_such_person"],
      params: { bad_password: "/password", wrong_password: "/current" },
      response: nothing("It is set."),
      respond: ({ session, body: { password, current = null } }) =>
        session === null
          ? Effect.fail(hasNoPassword)
          : Effect.as(people.setPassword(session, password, current), undefined),
    }),
  ]
})
