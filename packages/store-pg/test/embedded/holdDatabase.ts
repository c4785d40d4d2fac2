/**
 * A separate process that serves or joins a data directory, for tests that kill it. Prints one JSON line when the
 * database is ready, or the error's code, and ends cleanly on SIGTERM and SIGINT. `node holdDatabase.ts serve|join DIR
 * [socket|tcp] [LINGER_MILLIS] [UID]`, as that user once all is loaded
 */
import { Effect, Fiber } from "effect"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"

const [, , face, dataDir, transport, lingerMillis, uid] = process.argv
if (uid !== undefined) process.setuid!(Number(uid))
const options: EmbeddedPostgres.EmbeddedOptions = {
  dataDir: dataDir!,
  transport: transport === "tcp" ? "tcp" : "socket",
  ...(lingerMillis === undefined ? {} : { lingerMillis: Number(lingerMillis) }),
}
const fiber = Effect.runFork(
  Effect.scoped(
    Effect.gen(function* () {
      const database = yield* face === "serve" ? EmbeddedPostgres.serve(options) : EmbeddedPostgres.join(options)
      console.log(JSON.stringify(database))
      yield* Effect.never
    }),
  ).pipe(
    Effect.catch((error) =>
      Effect.sync(() => console.log(JSON.stringify({ code: error.code, message: error.message }))),
    ),
  ),
)
const alive = setInterval(() => {}, 1000)
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => Effect.runFork(Fiber.interrupt(fiber)))
fiber.addObserver((exit) => {
  if (exit._tag === "Failure" && !String(exit.cause).includes("Interrupt")) console.error(exit.cause)
  clearInterval(alive)
})
