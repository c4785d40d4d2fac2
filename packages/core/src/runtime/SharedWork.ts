/**
 * Does the same work once for all callers that request it at about the same time. A caller never gets the result of a
 * run that began before its call: all callers that arrive during a run share the next one. A caller that leaves does
 * not affect the others.
 */
import { Deferred, Effect, type Scope } from "effect"

interface Runs<A, E> {
  /** The run for callers that arrived during the current one; null without such callers. */
  next: Deferred.Deferred<A, E> | null
}

/** Runs work under a name: equal names are equal work. */
export type ShareWork<A, E> = (name: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Runs end when the scope closes. */
export const sharedWork = <A, E>(): Effect.Effect<ShareWork<A, E>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const all = new Map<string, Runs<A, E>>()
    const run = (name: string, runs: Runs<A, E>, work: Effect.Effect<A, E>, done: Deferred.Deferred<A, E>) =>
      Effect.gen(function* () {
        for (let current: Deferred.Deferred<A, E> | null = done; current !== null;) {
          yield* Deferred.done(current, yield* Effect.exit(work))
          current = runs.next
          runs.next = null
        }
        all.delete(name)
      })
    return (name, work) =>
      Effect.suspend(() => {
        const running = all.get(name)
        if (running !== undefined) return Deferred.await((running.next ??= Deferred.makeUnsafe<A, E>()))
        const done = Deferred.makeUnsafe<A, E>()
        const runs: Runs<A, E> = { next: null }
        all.set(name, runs)
        return Effect.andThen(Effect.forkIn(run(name, runs, work, done), scope), Deferred.await(done))
      })
  })
