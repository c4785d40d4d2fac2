/** Ends a session of the reader's on the primary, by whichever of its roles may. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Statements } from "./StatementPool.ts"
import type { ReaderSessions } from "./ReaderSessions.ts"
import { endSession, type EndedSession } from "./SessionEnd.ts"

/** The pause between two requests to a database that does not respond, or refuses. */
const AGAIN = "1 second"

export const cannotBeEnded = (work: string) => `${work} does not end, and its session cannot be terminated`

interface Enders {
  readonly owner: Statements
  readonly own: ReaderSessions
  readonly role: string
}

/**
 * Waits until the session has left, for as long as that takes. The reader may terminate its own backends, but a view's
 * function might hinder that, so the owner is tried first.
 */
export const endReader = ({ owner, own, role }: Enders, session: Omit<EndedSession, "role">): Effect.Effect<void> => {
  const asOwner = endSession((statement, values) => owner.values(statement, values), { ...session, role })
  const attempt: Effect.Effect<void, SqlError.SqlError> = asOwner.pipe(Effect.catch(() => own.end(session)))
  const again = Effect.retry(Effect.andThen(Effect.sleep(AGAIN), attempt), { while: () => true })
  const warned = Effect.logWarning(cannotBeEnded(session.work))
  return attempt.pipe(
    Effect.catch(() => Effect.andThen(warned, again)),
    Effect.orDie,
  )
}
