/** The parts of a request's time. */
import { PhaseClock } from "@data-cabinet/delivery/outgoing/PhaseClock"
import { expect, it } from "vitest"

it("PhaseClock gives each phase its time, sums one that came twice, and ends with the one that was cut off", () => {
  let now = 1000
  const phases = new PhaseClock(() => now)
  const spend = (phase: Parameters<typeof phases.enter>[0], millis: number) => {
    phases.enter(phase)
    now += millis
  }
  now += 50
  spend("nameMs", 2.4)
  spend("connectMs", 9)
  spend("waitMs", 20)
  spend("connectMs", 3)
  spend("waitMs", 5)
  phases.enter("waitMs")
  now += 1
  expect(phases.end()).toEqual({ nameMs: 2, connectMs: 12, tlsMs: null, waitMs: 26, bodyMs: null })
})
