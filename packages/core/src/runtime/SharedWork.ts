/**
 * Does the same work once for all who ask for it at about the same time. A caller is never given what began before it asked: while
 * a run is under way, all who ask meanwhile share the next one. A caller that leaves ends nothing for the others.
 */
import { Deferred, Effect, type Scope } from "effect"

interface Runs<A, E> {
  /** Of those who asked while a run was under way; null while there are none. */
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
