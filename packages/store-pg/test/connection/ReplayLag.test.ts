import { ReplayLag } from "@data-cabinet/store-pg/connection/ReplayLag"
import { expect, it } from "@effect/vitest"
import { Schema } from "effect"

it("at is infinite until the standby has replayed anything", () => {
  const lag = new ReplayLag()
  expect(lag.at(5)).toBe(Number.POSITIVE_INFINITY)
  lag.primaryAt(10, 1000)
  lag.replayed(999)
  expect(lag.at(20)).toBe(Number.POSITIVE_INFINITY)
})

it("at is the age of the latest time that the standby has replayed, and grows between checks", () => {
  const lag = new ReplayLag()
  lag.primaryAt(10, 1000)
  lag.primaryAt(20, 2000)
  lag.primaryAt(30, 3000)
  lag.replayed(2500)
  expect(lag.at(30)).toBe(10)
  expect(lag.at(100)).toBe(80)
  lag.replayed(3000)
  expect(lag.at(30)).toBe(0)
})

it("at does not grow with an idle primary, whose WAL does not advance, as long as checks run", () => {
  const lag = new ReplayLag()
  for (let at = 0; at <= 100; at += 10) {
    lag.primaryAt(at, 1000)
    lag.replayed(1000)
    expect(lag.at(at)).toBe(0)
  }
})

it("forget makes at infinite again", () => {
  const lag = new ReplayLag()
  lag.primaryAt(10, 1000)
  lag.replayed(1000)
  lag.forget()
  expect(lag.at(10)).toBe(Number.POSITIVE_INFINITY)
})

const Step = Schema.Struct({
  passed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 })),
  written: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 })),
  replayed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 700 })),
})

it.prop(
  "at never promises more than the standby has: everything written before then is replayed",
  [Schema.Array(Step)],
  ([steps]) => {
    const lag = new ReplayLag()
    const written: Array<{ readonly at: number; readonly place: number }> = []
    let [now, place, replayed] = [0, 0, 0]
    for (const step of steps) {
      now += step.passed
      place += step.written
      written.push({ at: now, place })
      lag.primaryAt(now, place)
      replayed = Math.min(place, replayed + step.replayed)
      lag.replayed(replayed)
      const until = now - lag.at(now)
      const missed = written.filter((each) => each.at <= until && each.place > replayed)
      // Of several places at one moment the last may still be on its way.
      if (missed.some((each) => each.at < until)) return false
    }
    return true
  },
  { arbitrary: { runs: 200, size: 20 } },
)
