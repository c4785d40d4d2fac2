/** Describes a failure by the response's status, in words for a log. */

/** How much of a redirect's target is shown. */
const MAX_LOCATION_LENGTH = 200

/** Redirects are not followed; the message says where they would have led. */
export const statusFailure = (status: number, location: string | null): string =>
  status >= 300 && status <= 399 && location !== null
    ? `responded with ${status}, a redirect to ${location.slice(0, MAX_LOCATION_LENGTH)}; redirects are not followed`
    : `responded with ${status}`
