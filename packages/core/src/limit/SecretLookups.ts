/**
 * Bounds the cost of wrong secrets to the database. Secrets of 256 bits cannot be guessed, so a wrong one costs only
 * its query. An address that sends too many wrong ones is slowed but never shut out, because honest clients may share
 * it. A secret that was right within the hour is looked up at once, any other in its turn. This memory is local to the
 * process.
 */
import { Clock, Data, Effect, Option } from "effect"
import { FairTurns } from "./FairTurns.ts"
import { rateSubject } from "./RateSubject.ts"
import { WrongCredentials } from "./WrongCredentials.ts"

const PROVEN_MILLIS = 3_600_000
const MAX_PROVEN = 10_000
/** About 50 turns a second, each of one address. */
const PAUSE = "20 millis"
const RETRY_SECONDS = 1

/** Too many requests of this address are waiting; `retryAfter` is in whole seconds. */
export class TooManyWrong extends Data.TaggedError("TooManyWrong")<{ readonly retryAfter: number }> {}

const refused = new TooManyWrong({ retryAfter: RETRY_SECONDS })

export class SecretLookups {
  readonly #wrong: WrongCredentials
  /** When secrets were last found, by fingerprint; least recent first. */
  readonly #proven = new Map<string, number>()
  readonly #turns = new FairTurns({ ofClient: 20, ofGroup: 20, total: 200 })

  /** `limit`: how many wrong secrets a minute of one address are looked up without delay. */
  constructor(limit: number) {
    this.#wrong = new WrongCredentials(limit)
  }

  find<A, E, R>(
    ip: string | null,
    fingerprint: Uint8Array,
    lookUp: Effect.Effect<Option.Option<A>, E, R>,
  ): Effect.Effect<Option.Option<A>, E | TooManyWrong, R> {
    const name = Buffer.from(fingerprint).toString("base64")
    const noted = Effect.tap(lookUp, (found) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        this.#proven.delete(name)
        if (Option.isNone(found)) this.#wrong.count(ip, now)
        else this.#prove(name, now)
      }),
    )
    const slowed = Effect.tap(noted, (found) => (Option.isNone(found) ? Effect.sleep(PAUSE) : Effect.void))
    return Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<Option.Option<A>, E | TooManyWrong, R> => {
      const provenAt = this.#proven.get(name) ?? Number.NEGATIVE_INFINITY
      if (now - provenAt < PROVEN_MILLIS || this.#wrong.retryAfter(ip, now) === null) return noted
      const subject = ip === null ? "ip:unknown" : rateSubject(ip)
      return this.#turns.run(subject, subject, slowed, refused)
    })
  }

  #prove(name: string, now: number): void {
    if (this.#proven.size >= MAX_PROVEN) {
      const [oldest] = this.#proven.keys()
      if (oldest !== undefined) this.#proven.delete(oldest)
    }
    this.#proven.set(name, now)
  }
}
