/** Runs before each test file: a response that differs from the API's description fails the test that saw it. */
import { afterAll, afterEach } from "vitest"
import { takeFailures } from "./describedResponses.ts"

const throwFailures = async () => {
  const [first] = await takeFailures()
  if (first !== undefined) throw first
}
afterEach(throwFailures)
afterAll(throwFailures)
