/** The minutes in which requests are counted, on the cabinet's clock. */
import type { TestDatabase } from "./postgres.ts"

/** Moves the clock to the beginning of a minute without requests, so that counts do not start over before it is over. */
export const beginMinute = (database: Pick<TestDatabase, "run">) =>
  database.run(
    "UPDATE cabinet.clock SET shift = date_trunc('minute', clock_timestamp() + shift, 'UTC') + interval '61 s' - clock_timestamp()",
  )
