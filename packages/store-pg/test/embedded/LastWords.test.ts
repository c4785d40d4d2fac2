/** The reason that PostgreSQL's log gives for its end, in its own words. */
import { lastWordsIn, reasonIn, reasonOfProgram } from "@data-cabinet/store-pg/embedded/LastWords"
import { expect, it } from "vitest"

const READY = "2026-11-26 23:00:00.000 UTC [1] LOG:  database system is ready to accept connections"
const line = (level: string, words: string) => `2026-11-26 23:00:01.000 UTC [7] ${level}:  ${words}`

it.each([
  [
    "its disk is full",
    [
      line("PANIC", 'could not write to file "pg_wal/xlogtemp.7": No space left on device'),
      line("LOG", "server process (PID 7) was terminated by signal 6: Aborted"),
      line("FATAL", "the database system is in recovery mode"),
      line("LOG", "aborting startup due to startup process failure"),
    ],
  ],
  ["its disk is full", [line("FATAL", 'could not write lock file "postmaster.pid": No space left on device')]],
  [
    "its port is in use by another program: choose another in CABINET_POSTGRES_PORT",
    [
      line("LOG", 'could not bind IPv4 address "127.0.0.1": Address already in use'),
      line("FATAL", "could not create any TCP/IP sockets"),
    ],
  ],
  [
    "its data directory has the wrong owner or permissions",
    [line("FATAL", 'data directory "/d" has invalid permissions')],
  ],
  [
    "its data directory has the wrong owner or permissions",
    [line("FATAL", 'could not open file "global/pg_filenode.map": Permission denied')],
  ],
  [
    "its data directory has the wrong owner or permissions",
    [
      line("LOG", 'could not open configuration file "/d/postgresql.conf": Permission denied'),
      line("FATAL", 'configuration file "/d/postgresql.conf" contains errors'),
    ],
  ],
  [
    "its disk is full",
    [
      line("ERROR", 'could not write to file "pg_logical/replorigin_checkpoint.tmp": No space left on device'),
      line("FATAL", "checkpoint request failed"),
    ],
  ],
  ["its data are damaged: restore a backup", [line("PANIC", "could not locate a valid checkpoint record")]],
  ["its data are damaged: restore a backup", [line("FATAL", "incorrect checksum in control file")]],
])("reasonIn names %s", (reason, lines) => {
  expect(reasonIn(lastWordsIn([READY, ...lines].join("\n"))!)).toBe(reason)
})

it("lastWordsIn ignores messages that ended sessions, and those before the server was last ready", () => {
  const old = line("PANIC", 'could not write to file "pg_wal/xlogtemp.7": No space left on device')
  const session = line("FATAL", "terminating connection due to administrator command")
  const statement = line("ERROR", 'relation "orders" does not exist at character 15')
  expect(lastWordsIn([old, READY, session, statement].join("\n"))).toBeUndefined()
  const disk = line("ERROR", 'could not extend file "base/5/1": No space left on device')
  expect(lastWordsIn([old, READY, disk, statement].join("\n"))).toContain("No space left on device")
})

it("reasonIn quotes no file after an unusual end", () => {
  expect(reasonIn('FATAL:  lock file "/secret/postmaster.pid" is empty')).toBe(
    "it has stopped (FATAL: lock file … is empty)",
  )
})

it.each([
  [
    'its disk is full (FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device)',
    `running bootstrap script ... ${line("FATAL", 'could not write to file "pg_wal/xlogtemp.7": No space left on device')}\nchild process exited with exit code 1\n`,
  ],
  ["initdb: error: invalid locale settings", "initdb: error: invalid locale settings\ninitdb: hint: check LANG"],
  ["no message", ""],
])("reasonOfProgram says %s", (reason, output) => {
  expect(reasonOfProgram(output)).toBe(reason)
})
