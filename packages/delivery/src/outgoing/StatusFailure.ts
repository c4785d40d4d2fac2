/** What an answer's status says of a failure, in words that a log shows. */

/** How much of the address is told that a redirect leads to. */
const SHOWN_LOCATION = 200

/** Redirects are not followed; it is told where they would have led. */
export const statusFailure = (status: number, location: string | null): string =>
  status >= 300 && status <= 399 && location !== null
    ? `answered ${status}, a redirect to ${location.slice(0, SHOWN_LOCATION)}; redirects are not followed`
    : `answered ${status}`
