/** The pool of a yardstick, with the number of connections that performed best. */
import { Pool } from "pg"

export const pool = (max: number): Pool => {
  const made = new Pool({ connectionString: process.env["DATABASE_URL"], max })
  // Its database is dropped when the run ends.
  made.on("error", () => {})
  return made
}
