import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { AuditLog, type Intent } from "@data-cabinet/core/audit/AuditLog"
import type { Intake } from "@data-cabinet/core/intake/Intake"
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { sendTestEvent } from "@data-cabinet/core/intake/SendTestEvent"
import { Effect } from "effect"
import { expect, it } from "vitest"

const ACTOR: Actor = { kind: "person", id: 1, name: "Ada", role: "editor", from: null, requestId: null }
const RECEIPT = { id: 5 } as never

const over = (accept: Intake["Service"]["accept"]) => {
  const intents: Array<Intent> = []
  const outcomes: Array<string> = []
  const audit = AuditLog.of({
    begin: (intent) =>
      Effect.as(
        Effect.sync(() => intents.push(intent)),
        { id: 1, at: "2026-01-01T00:00:00Z" },
      ),
    end: (_, outcome) => Effect.sync(() => void outcomes.push(outcome)),
    list: () => Effect.succeed([]),
  })
  const intake = { accept } as Intake["Service"]
  const send = (sourceId: number, fields: Readonly<Record<string, unknown>>) =>
    Effect.runSync(
      Effect.result(sendTestEvent({ intake, audit }, sourceId, fields)).pipe(
        Effect.provideService(CurrentActor, ACTOR),
      ),
    )
  return { intents, outcomes, send }
}

const refusing = (code: IntakeError["code"]) =>
  over(() => Effect.fail(new IntakeError({ code, message: "This address does not accept data" })))

it("sendTestEvent accepts the fields as given, and logs their names without values", () => {
  const accepted: Array<unknown> = []
  const { intents, outcomes, send } = over((...given) =>
    Effect.as(
      Effect.sync(() => accepted.push(given)),
      RECEIPT,
    ),
  )
  expect(send(7, { card: "4111", name: "Ada" })).toMatchObject({ success: { id: 5 } })
  expect(accepted).toEqual([[7, { card: "4111", name: "Ada" }]])
  const changes = { fields: ["card", "name"] }
  expect(intents).toEqual([{ actor: ACTOR, action: "source.test_event", object: "source 7", changes }])
  expect(outcomes).toEqual(["done"])
})

it("sendTestEvent logs at most a hundred field names", () => {
  const { intents, send } = over(() => Effect.succeed(RECEIPT))
  send(7, Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, at])))
  expect(intents[0]!.changes["fields"]).toHaveLength(100)
})

it("sendTestEvent names a source that accepts no events, and passes on other refusals", () => {
  expect(refusing("not_found").send(7, {})).toMatchObject({
    failure: { _tag: "SourceError", code: "no_such_source", message: "Source 7 does not exist." },
  })
  const { outcomes, send } = refusing("bad_fields")
  expect(send(7, {})).toMatchObject({ failure: { _tag: "IntakeError", code: "bad_fields" } })
  expect(outcomes).toEqual(["bad_fields"])
})
