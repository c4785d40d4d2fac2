/** Runs before each test file: an answer that does not fit the API's description fails the test that saw it. */
import { afterAll, afterEach } from "vitest"
import { takeFailures } from "./describedResponses.ts"

const throwFailures = async () => {
  const [first] = await takeFailures()
  if (first !== undefined) throw first
}
afterEach(throwFailures)
afterAll(throwFailures)
