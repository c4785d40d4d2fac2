/** Messages raised by a function behind a view, which no read needs: none is sent, or the read is terminated. */
import { Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { itemsOf, openReading, type Reading } from "./reading.ts"

const timeout = 120_000

let reading: Reading
beforeAll(async () => {
  // The read has to be ended for what it sends, not for its duration.
  reading = await openReading({ maxReaderConnections: 4, settings: { statementTimeout: 60_000 } })
  await reading.run(`CREATE FUNCTION same(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1; END'`)
  await reading.run(`CREATE VIEW calm AS SELECT same(1) AS id, repeat('x', 5000000) AS long`)
})
afterAll(() => reading.close())

const CALM = [{ id: 1, long: "x".repeat(5_000_000) }]
/** Two at a time, so that none waits long on a busy machine. */
const calmReads = async (pairs: number) => {
  for (let pair = 0; pair < pairs; pair++) {
    for (const answer of await Promise.all([reading.page("calm"), reading.page("calm")])) {
      expect(itemsOf(answer)).toEqual(CALM)
    }
  }
}

it(
  "a read that raises endless messages is terminated with a message, and concurrent reads are complete",
  { timeout },
  async () => {
    await reading.run(`CREATE FUNCTION flood() RETURNS int LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM set_config('client_min_messages', 'warning', false);
      LOOP RAISE WARNING '%', repeat('x', 1000000); END LOOP;
    END $$`)
    await reading.run(`CREATE VIEW floods AS SELECT flood() AS f`)
    const floods = Array.from({ length: 2 }, () => reading.page("floods"))
    // In reused sessions, more is sent than one response may have.
    await calmReads(5)
    for (const answer of await Promise.all(floods)) {
      expect(Result.isFailure(answer) && answer.failure).toMatchObject({
        code: "query_failed",
        message: expect.stringContaining("The query sent more than 23 MB, with the messages of the functions"),
      })
    }
    await calmReads(5)
  },
)

it("a function that changes no setting sends no message", async () => {
  await reading.run(`CREATE FUNCTION warn() RETURNS text LANGUAGE plpgsql AS $$
    BEGIN RAISE WARNING 'not asked for'; RETURN current_setting('client_min_messages'); END $$`)
  await reading.run(`CREATE VIEW warns AS SELECT warn() AS level`)
  expect(itemsOf(await reading.page("warns"))).toEqual([{ level: "error" }])
})
