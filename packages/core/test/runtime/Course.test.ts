import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Metric, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, type Ask, asked, Course, known, running, thenAtOnce } from "../../src/runtime/Course.ts"
import { instrumentAsk } from "../../src/runtime/Instrument.ts"

/** A course whose outcomes are kept, and a question that is answered by hand. */
const course = () => {
  const outcomes: Array<Exit.Exit<string, string>> = []
  const answers: Array<Answer<string, string>> = []
  let givenUp = 0
  const question: Ask<string, string> = (answer) => {
    answers.push(answer)
    return () => void givenUp++
  }
  const made = new Course<string, string>((outcome) => void outcomes.push(outcome), Context.empty())
  return { made, outcomes, answers, question, givenUp: () => givenUp }
}

describe("Course", () => {
  it("takes step after step, and tells its outcome once", () => {
    const { made, outcomes, answers, question } = course()
    const told: Array<string> = []
    made.ask(question, (first) => {
      told.push(first)
      made.ask(question, (second) => {
        told.push(second)
        made.end(Exit.succeed("done"))
        made.end(Exit.succeed("again"))
      })
    })
    answers[0]!(Exit.succeed("a"))
    assert.deepStrictEqual(outcomes, [])
    answers[1]!(Exit.succeed("b"))
    assert.deepStrictEqual([told, outcomes], [["a", "b"], [Exit.succeed("done")]])
  })

  it("goes by the first answer to the question that is open, and by no other", () => {
    const { made, answers, question } = course()
    const told: Array<string> = []
    made.ask(question, (first) => {
      told.push(first)
      made.ask(question, (second) => told.push(second))
    })
    answers[0]!(Exit.succeed("a"))
    answers[0]!(Exit.succeed("a again"))
    answers[0]!(Exit.fail("a at last"))
    answers[1]!(Exit.succeed("b"))
    answers[1]!(Exit.succeed("b again"))
    assert.deepStrictEqual(told, ["a", "b"])
  })

  it("ends with a failure unless that is asked for, and takes no step after it", () => {
    const { made, outcomes, answers, question } = course()
    let more = 0
    made.settle(question, (answer) => {
      assert.deepStrictEqual(answer, Exit.fail("no"))
      made.ask(question, () => void more++)
    })
    answers[0]!(Exit.fail("no"))
    answers[1]!(Exit.fail("no again"))
    made.ask(question, () => void more++)
    assert.deepStrictEqual([outcomes, answers.length, more], [[Exit.fail("no again")], 2, 0])
  })

  it("ends with what a step throws", () => {
    const { made, outcomes, answers, question } = course()
    made.ask(question, () => {
      throw new Error("a fault")
    })
    answers[0]!(Exit.succeed("a"))
    made.step(() => {
      throw new Error("another")
    })
    assert.deepStrictEqual(
      outcomes.map((outcome) => Exit.isFailure(outcome) && String(Cause.squash(outcome.cause))),
      ["Error: a fault"],
    )
  })

  it("gives up what is asked when it ends or is given up, once, and tells nothing then", () => {
    const taken: Array<string> = []
    const first = course()
    first.made.ask(first.question, () => void taken.push("after the end"))
    first.made.end(Exit.fail("late"))
    first.answers[0]!(Exit.succeed("a"))
    first.made.giveUp()
    assert.deepStrictEqual([first.outcomes, first.givenUp()], [[Exit.fail("late")], 1])
    const second = course()
    second.made.ask(second.question, () => void taken.push("after it was given up"))
    second.made.giveUp()
    second.answers[0]!(Exit.succeed("a"))
    assert.deepStrictEqual([second.outcomes, second.givenUp()], [[], 1])
    assert.deepStrictEqual(taken, [])
  })

  it("does not give up a question that was answered at once", () => {
    const { made, outcomes, question, givenUp } = course()
    const atOnce: Ask<string, string> = (answer) => {
      answer(Exit.succeed("at once"))
      return () => assert.fail("it was answered")
    }
    made.ask(atOnce, () => made.ask(question, () => {}))
    made.end(Exit.succeed("end"))
    assert.deepStrictEqual([outcomes, givenUp()], [[Exit.succeed("end")], 1])
  })

  it("makes no fiber for what is known", () => {
    let steps = 0
    class Counting extends Scheduler.MixedScheduler {
      override shouldYield(fiber: Fiber.Fiber<unknown, unknown>) {
        steps++
        return super.shouldYield(fiber)
      }
    }
    const told: Array<string> = []
    const made = new Course<string, string>(() => {}, Context.make(Scheduler.Scheduler, new Counting()))
    made.run(Effect.succeed("known"), (value) => void told.push(value))
    assert.deepStrictEqual([told, steps], [["known"], 0])
    made.run(
      Effect.sync(() => "run"),
      (value) => void told.push(value),
    )
    assert.deepStrictEqual(told, ["known", "run"])
    assert.isAbove(steps, 0)
  })

  it("runs an Effect in a fiber, which is interrupted when it is given up; what is known takes none", () => {
    const { made, outcomes } = course()
    const order: Array<string> = []
    made.run(Effect.succeed("known"), (value) => {
      order.push(value)
      const never = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void order.push("interrupted")))
      made.run(never, () => assert.fail("it never ends"))
    })
    order.push("after")
    made.end(Exit.succeed("end"))
    assert.deepStrictEqual([order, outcomes], [["known", "after", "interrupted"], [Exit.succeed("end")]])
  })
})

describe("asked", () => {
  it.effect("is the question as an Effect, which gives it up when it is interrupted", () =>
    Effect.gen(function* () {
      const { answers, question, givenUp } = course()
      const one = yield* Effect.forkChild(asked(question), { startImmediately: true })
      answers[0]!(Exit.succeed("a"))
      assert.strictEqual(yield* Fiber.join(one), "a")
      const other = yield* Effect.forkChild(asked(question), { startImmediately: true })
      assert.strictEqual(givenUp(), 0)
      yield* Fiber.interrupt(other)
      assert.strictEqual(givenUp(), 1)
    }),
  )

  it.effect("hands on the context of whoever asks", () =>
    Effect.gen(function* () {
      const Name = Context.Reference<string>("test/Name", { defaultValue: () => "nobody" })
      const name: Ask<string, never> = (answer, context) => {
        answer(Exit.succeed(Context.get(context, Name)))
        return () => {}
      }
      assert.strictEqual(yield* Effect.provideService(asked(name), Name, "somebody"), "somebody")
      assert.strictEqual(yield* Effect.provideService(asked(running(Name)), Name, "somebody"), "somebody")
    }),
  )
})

describe("thenAtOnce", () => {
  it.effect("knows what comes of what is known, and waits for what is not", () =>
    Effect.gen(function* () {
      const twice = (n: number) => Effect.succeed(n * 2)
      assert.deepStrictEqual(known(thenAtOnce(Effect.succeed(2), twice)), Exit.succeed(4))
      assert.deepStrictEqual(known(thenAtOnce(Effect.fail("no"), twice)), Exit.fail("no"))
      const later = thenAtOnce(Effect.delay(Effect.succeed(3), "1 second"), twice)
      assert.isUndefined(known(later))
      const fiber = yield* Effect.forkChild(later)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 6)
    }),
  )
})

it.effect("staged counts how a question was answered, once", () =>
  Effect.gen(function* () {
    const { made, answers, question } = course()
    made.ask(instrumentAsk("retention.round", question), () => {})
    answers[0]!(Exit.succeed("a"))
    answers[0]!(Exit.succeed("a again"))
    for (const outcome of [Exit.fail("no"), Exit.interrupt()]) {
      const one = course()
      one.made.settle(instrumentAsk("retention.round", one.question), () => {})
      one.answers[0]!(outcome)
    }
    const counts = (yield* Metric.snapshot)
      .filter(({ id, attributes }) => id === "stage_milliseconds" && attributes?.["stage"] === "retention.round")
      .map(({ attributes, state }) => [attributes?.["outcome"], (state as { readonly count: number }).count])
    assert.sameDeepMembers(counts, [
      ["ok", 1],
      ["failed", 1],
      ["interrupted", 1],
    ])
  }),
)
