/** How an act is logged: before it begins, and again with its outcome, whatever that is. */
import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { managed } from "@data-cabinet/core/audit/Managed"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Cause, Effect, Exit, Logger } from "effect"
import { expect, it } from "vitest"

const ADA: Actor = { kind: "person", id: 3, name: "Ada", role: "owner", from: "203.0.113.9", requestId: "r1" }
const AWAY = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })
const UNKNOWN = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: true })

interface Given {
  readonly actor?: Actor | null
  readonly makes?: string
  readonly begin?: Effect.Effect<void, StoreUnavailable>
  readonly end?: Effect.Effect<void, StoreUnavailable>
}

/** The events in order, and the outcome. */
const run = <A, E>(
  work: Effect.Effect<A, E>,
  { actor = ADA, makes, begin = Effect.void, end = Effect.void }: Given = {},
) => {
  const happened: Array<unknown> = []
  const note = (what: unknown) => Effect.sync(() => void happened.push(what))
  const log = AuditLog.of({
    begin: (intent) => Effect.as(Effect.andThen(begin, note(intent)), { id: 5, at: "2026-11-26T10:00:00Z" }),
    end: (entry, outcome, object) => Effect.andThen(end, note({ id: entry.id, outcome, object })),
    list: () => Effect.succeed([]),
  })
  const act = { action: "source.create", object: null, changes: { name: "Orders" } }
  const exit = Effect.runSync(
    managed(log, makes === undefined ? act : { ...act, makes }, Effect.andThen(note("work"), work)).pipe(
      Effect.provideService(CurrentActor, actor),
      Effect.exit,
      Effect.provide(Logger.layer([])),
    ),
  )
  return { happened, exit }
}

const INTENT = { actor: ADA, action: "source.create", object: null, changes: { name: "Orders" } }
const ended = (outcome: string, object: string | null = null) => [INTENT, "work", { id: 5, outcome, object }]

it("managed writes the intent before the work, and the outcome after it", () => {
  const { happened, exit } = run(Effect.succeed("made"))
  expect(happened).toEqual(ended("done"))
  expect(exit).toEqual(Exit.succeed("made"))
})

it("managed names the created object, if it was created and has a number", () => {
  expect(run(Effect.succeed({ id: 9 }), { makes: "source" }).happened).toEqual(ended("done", "source 9"))
  expect(run(Effect.succeed({ id: 9 })).happened).toEqual(ended("done"))
  for (const made of ["text", null, undefined, {}]) {
    expect(run(Effect.succeed(made), { makes: "source" }).happened).toEqual(ended("done"))
  }
  expect(run(Effect.fail({ id: 9, code: "bad_name" }), { makes: "source" }).happened).toEqual(ended("bad_name"))
})

it.each<[string, Effect.Effect<unknown, unknown>]>([
  ["no_such_source", Effect.fail({ code: "no_such_source" })],
  ["unavailable", Effect.fail(AWAY)],
  ["unknown", Effect.fail(UNKNOWN)],
  ["interrupted", Effect.failCause(Cause.interrupt(7))],
  ["fault", Effect.die(new Error("broken"))],
  ["fault", Effect.fail("no code")],
  ["fault", Effect.fail(null)],
  ["fault", Effect.fail({ message: "no code" })],
])("managed logs %s as the outcome, and the work fails as it would alone (%#)", (outcome, work) => {
  const { happened, exit } = run(work)
  expect(happened).toEqual(ended(outcome))
  expect(exit).toEqual(run(work, { actor: null }).exit)
  expect(Exit.isFailure(exit)).toBe(true)
})

it("managed does not begin an act that it cannot log", () => {
  const { happened, exit } = run(Effect.succeed("made"), { begin: Effect.fail(AWAY) })
  expect(happened).toEqual([])
  expect(exit).toEqual(Exit.fail(AWAY))
})

it("managed keeps the work's result when its outcome cannot be logged", () => {
  for (const end of [Effect.fail(AWAY), Effect.die(new Error("broken"))]) {
    expect(run(Effect.succeed("made"), { end })).toEqual({ happened: [INTENT, "work"], exit: Exit.succeed("made") })
    expect(run(Effect.fail("refused"), { end }).exit).toEqual(Exit.fail("refused"))
  }
})

it("managed logs nothing without an actor", () => {
  const { happened, exit } = run(Effect.succeed("made"), { actor: null })
  expect(happened).toEqual(["work"])
  expect(exit).toEqual(Exit.succeed("made"))
})
