import { Sessions, sessionsOf } from "@data-cabinet/core/person/Sessions"
import { SessionStore } from "@data-cabinet/core/person/SessionStore"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

it("sessionsOf returns all sessions to an owner, their own to other people, and none to a program", () => {
  expect(sessionsOf({ role: "owner", kind: "person", id: 3 })).toBeNull()
  expect(sessionsOf({ role: "owner", kind: "token", id: 3 })).toBeNull()
  expect(sessionsOf({ role: "editor", kind: "person", id: 3 })).toBe(3)
  expect(sessionsOf({ role: "viewer", kind: "token", id: 3 })).toBe(0)
  expect(sessionsOf({ role: "editor", kind: "program", id: null })).toBe(0)
})

it("Sessions ends a session only of the given person, or all sessions of a person", () => {
  const ended: Array<ReadonlyArray<number | null>> = []
  const store = Layer.mock(SessionStore, {
    find: () => Effect.succeedNone,
    peek: () => Effect.succeedNone,
    list: () => Effect.succeed([]),
    end: (id, ofPerson) => Effect.sync(() => (ended.push([id, ofPerson]), ofPerson === 3 || ofPerson === null)),
    endAll: (personId, butId) => Effect.sync(() => (ended.push([personId, butId]), 2)),
  })
  const layer = Layer.provide(Sessions.layer, store)
  const run = <A, E>(work: (sessions: Sessions["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Effect.result(Effect.provide(Sessions.use(work), layer)))
  expect(run((sessions) => sessions.end(7, 3))).toMatchObject({ _tag: "Success" })
  expect(run((sessions) => sessions.end(7, null))).toMatchObject({ _tag: "Success" })
  expect(run((sessions) => sessions.end(7, 4))).toMatchObject({ failure: { code: "no_such_session" } })
  expect(run((sessions) => sessions.endAll(3))).toMatchObject({ success: 2 })
  expect(ended).toEqual([
    [7, 3],
    [7, null],
    [7, 4],
    [3, null],
  ])
})
