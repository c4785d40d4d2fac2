/**
 * Counts attempts to sign in, by the minute and across all processes. A browser in which a person has signed in before
 * counts separately. Any other counts by its address and by the account, with a separate count for the address of the person's last
 * sign-in.
 */
import { hash } from "node:crypto"
import { Clock, Context, Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { rateSubject } from "../limit/RateSubject.ts"
import { WrongCredentials } from "../limit/WrongCredentials.ts"
import type { SignInOrigin } from "./Person.ts"
import { type SignInError, tooManySignIns } from "./PersonError.ts"
import { RateWindows } from "../limit/RateLimiter.ts"

/**
 * Attempts a minute; `links`: the wrong links of one address that are looked up without delay; `redirects`: how often one
 * address or known browser is sent to an identity provider, and how often it may return from one without having been sent.
 */
export const SignInRates = Context.Reference<{
  readonly address: number
  readonly account: number
  readonly links: number
  readonly redirects: number
}>("@data-cabinet/core/person/SignInRates", {
  defaultValue: () => ({ address: 10, account: 5, links: 60, redirects: 30 }),
})

type Refused = SignInError | StoreUnavailable

/** The name under which a client's address is counted. */
export const subjectOf = (client: string | null): string => (client === null ? "ip:unknown" : rateSubject(client))

/** Each fails with `rate_limited` for an attempt over its limit. */
export const attemptCounts = Effect.gen(function* () {
  const windows = yield* RateWindows
  const rates = yield* SignInRates

  const count = Effect.fnUntraced(function* (subject: string, limit: number): Effect.fn.Return<void, Refused> {
    const { allowed, retryAfter } = yield* windows.count(subject, limit)
    if (!allowed) return yield* tooManySignIns(retryAfter)
  })

  /** Counts by address. An address beyond its limit is refused without a query to the database. */
  const byAddress = (step: string, limit: number) => {
    const flood = new WrongCredentials(limit)
    return Effect.fnUntraced(function* ({ client }: SignInOrigin): Effect.fn.Return<void, Refused> {
      const now = yield* Clock.currentTimeMillis
      const wait = flood.retryAfter(client, now)
      if (wait !== null) return yield* tooManySignIns(wait)
      flood.count(client, now)
      yield* count(`${step}:${subjectOf(client)}`, limit)
    })
  }
  const countAddress = byAddress("signin", rates.address)
  /** Counts a known browser separately, and any other by its address, in a count of the step's own. */
  const byOrigin = (step: string, limit: number) => {
    const counted = byAddress(step, limit)
    return (origin: SignInOrigin): Effect.Effect<void, Refused> =>
      origin.browser === null ? counted(origin) : count(`${step}:browser:${origin.browser.id}`, limit)
  }

  /** Counts a known browser separately, and any other by its address. */
  const countOrigin = (origin: SignInOrigin): Effect.Effect<void, Refused> =>
    origin.browser === null ? countAddress(origin) : count(`signin:browser:${origin.browser.id}`, rates.account)

  /** Counts a redirect to a provider. Its return is an attempt of its own. */
  const countRedirect = byOrigin("signin:redirect", rates.redirects)

  /**
   * Counts a return from a provider that no redirect preceded. Any page can make a browser send one, so it must not use up
   * the attempts of the people at its address.
   */
  const countStray = byOrigin("signin:stray", rates.redirects)

  /** Counts an attempt from a browser that this account does not know. */
  const countStranger = Effect.fnUntraced(function* (
    name: string,
    knownFrom: string | null,
    origin: SignInOrigin,
  ): Effect.fn.Return<void, Refused> {
    if (origin.browser !== null) yield* countAddress(origin)
    const account = hash("sha256", name.toLowerCase(), "base64url").slice(0, 22)
    const own = knownFrom === subjectOf(origin.client) ? ":own" : ""
    yield* count(`signin:account:${account}${own}`, rates.account)
  })

  /** Counts guesses at the current password from one of the person's sessions, which may be stolen. */
  const countCurrent = (personId: number): Effect.Effect<void, Refused> =>
    count(`signin:current:${personId}`, rates.account)

  return { countOrigin, countRedirect, countStray, countStranger, countCurrent }
})
