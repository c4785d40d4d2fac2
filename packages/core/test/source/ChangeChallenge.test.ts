import { changedChallenge } from "@data-cabinet/core/source/ChangeChallenge"
import type { Challenge, ChallengeChange } from "@data-cabinet/core/verification/Challenge"
import { Effect } from "effect"
import { expect, it } from "vitest"

const changed = (current: Challenge | null, change: ChallengeChange) =>
  Effect.runSync(changedChallenge(current, change))

it("changedChallenge requires the secret of a provider that has one, and keeps the current one", () => {
  expect(changed(null, { provider: "meta", secret: "s" })).toEqual({ provider: "meta", secret: "s" })
  expect(changed({ provider: "x" }, { provider: "x" })).toEqual({ provider: "x", secret: undefined })
  expect(changed({ provider: "x" }, { provider: "graph" })).toEqual({ provider: "graph", secret: undefined })
})

it.each<[Challenge | null, ChallengeChange, RegExp]>([
  [null, { provider: "slack" as never }, /the provider must be one of meta, x, graph, dropbox/],
  [null, { provider: "meta" }, /meta needs the verify token/],
  [{ provider: "meta" }, { provider: "x" }, /x needs the consumer secret/],
  [null, { provider: "dropbox", secret: "hush" }, /dropbox asks without a secret/],
  [null, { provider: "x", secret: "" }, /a secret has 1 to 1000 characters/],
  [null, { provider: "x", secret: "hush\n" }, /no control characters/],
  [null, { provider: "x", secret: "enc.v1.hush" }, /cannot begin with enc/],
])("changedChallenge of %j refuses %j", (current, change, words) => {
  const error = Effect.runSync(Effect.flip(changedChallenge(current, change)))
  expect(error).toMatchObject({ code: "bad_challenge", message: expect.stringMatching(words) })
  expect(error.message).not.toContain("hush")
})
