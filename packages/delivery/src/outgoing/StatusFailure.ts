/** Describes a failure by the response's status, in words for a log. */
import { maskUrl } from "@data-cabinet/core/network/MaskedUrl"

/** How much of a redirect's target is shown. */
const MAX_LOCATION_LENGTH = 200

/**
 * Redirects are not followed; the message says where they would have led. It often repeats the query of the requested
 * URL, which may be a secret from people who may see the failure.
 */
export const statusFailure = (status: number, location: string | null): string =>
  status >= 300 && status <= 399 && location !== null
    ? `responded with ${status}, a redirect to ${maskUrl(location).slice(0, MAX_LOCATION_LENGTH)}; redirects are not followed`
    : `responded with ${status}`
