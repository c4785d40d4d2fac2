/** The rules for a destination's location, for the settings of its bucket or stream, and for its credentials. */
import { Effect } from "effect"
import type { DestinationFormat } from "./Destination.ts"
import { type AddressCheck, unfitAddress } from "../delivery/AddressCheck.ts"
import { type DestinationCredentials, unfitCredentials } from "./DestinationCredentials.ts"
import { type DestinationError, refuse } from "./DestinationError.ts"
import { isNats, parseBrokers, parseNats } from "./NatsSettings.ts"
import { bucketUrl, isS3, parseS3, S3_SETTINGS, type S3Settings, serviceUrl } from "./S3Settings.ts"

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
const MAX_SEGMENTS = 10

const NAMES = `up to ${MAX_SEGMENTS} names of letters of a to z, digits, dots, hyphens and underscores, none of which begins with a dot or a hyphen`

/** What a valid location is. */
export const LOCATION_EXPECTED = `a directory below CABINET_DESTINATION_ROOT, such as events/orders, or s3://BUCKET/PREFIX; a directory and a prefix are ${NAMES}. Or a stream of NATS, nats://STREAM/SUBJECT, with the beginning of the subjects of its messages`

const SECRET = "it has a user or a password, which belong to the credentials"

/** Which of the names of a directory or a prefix is not one. */
const namesFault = (segments: ReadonlyArray<string>): string | null => {
  if (segments.length > MAX_SEGMENTS) return `it has ${segments.length} names`
  const wrong = segments.findIndex((segment) => !SEGMENT.test(segment))
  return wrong < 0 ? null : `name ${wrong + 1} is not such a name`
}

/** Which part of a location is wrong, in words that have no part of it; null if it is right. */
const locationFault = (location: string): string | null => {
  if (isNats(location)) {
    if (parseNats(location) !== null) return null
    return location.includes("@")
      ? SECRET
      : "the stream or the subject is not of letters, digits, hyphens, underscores and, in the subject, dots"
  }
  if (!isS3(location)) return namesFault(location.split("/"))
  const place = parseS3(location)
  if (place !== null) return namesFault(place.prefix)
  return location.includes("@") ? SECRET : "the bucket is not 3 to 63 of a to z, digits, hyphens and single dots"
}

/** Whether `s3://…` names a bucket and a prefix. */
export const isBucket = (location: string): boolean => isS3(location) && locationFault(location) === null

type Check = AddressCheck["Service"]

/** A bucket or a broker is reached as a delivery's address is: at public addresses, and in allowed networks. */
const checkAddress = (check: Check, text: string): Effect.Effect<void, DestinationError> => {
  const url = URL.parse(text)
  if (url === null) {
    return refuse(
      "bad_endpoint",
      "The host of this endpoint cannot have the bucket's name before it: use the URL style path.",
    )
  }
  return check.check(url).pipe(
    Effect.catch((unfit) => {
      const { message } = unfitAddress(unfit)
      return refuse(unfit.is === "bad_url" ? "bad_endpoint" : unfit.is, message)
    }),
  )
}

const NOT_S3 =
  "Only a bucket, s3://BUCKET/PREFIX, has a region and a URL style; only a bucket and a stream have an endpoint and credentials."

const BROKERS_NEEDED = "A stream needs an endpoint: its broker, such as tls://nats.example.com:4222."
const NO_BROKERS = "The endpoint of a bucket is a URL of http or https."
const ONLY_FILES = "A stream has messages of JSON, not files: leave out the format."

/** The settings in the form in which they are stored. */
const storedSettings = (given: S3Settings): S3Settings => ({
  ...given,
  endpoint: S3_SETTINGS.declared.endpoint.stored(given.endpoint),
})

const checkSettings = Effect.fnUntraced(function* (check: Check, location: string, given: S3Settings) {
  const refused = S3_SETTINGS.refusal(given)
  if (refused !== null) return yield* refuse(refused.code, refused.message)
  const settings = storedSettings(given)
  const brokers = settings.endpoint === null ? null : parseBrokers(settings.endpoint)
  if (isNats(location)) {
    if (given.region !== null || given.urlStyle !== null) return yield* refuse("not_s3", NOT_S3)
    if (brokers === null) return yield* refuse("bad_endpoint", BROKERS_NEEDED)
    for (const { url } of brokers) yield* checkAddress(check, url.href)
    return settings
  }
  if (brokers !== null) return yield* refuse("bad_endpoint", NO_BROKERS)
  yield* checkAddress(check, bucketUrl(parseS3(location)!.bucket, settings))
  return settings
})

const checkCredentials = (
  location: string,
  credentials: DestinationCredentials,
): Effect.Effect<void, DestinationError> => {
  const refused = unfitCredentials(location, credentials)
  return refused === null ? Effect.void : refuse("bad_credentials", refused)
}

const isEmpty = (settings: Partial<S3Settings>) => S3_SETTINGS.all.every(({ key }) => (settings[key] ?? null) === null)

/** The place of a new destination, as given. */
interface GivenPlace extends S3Settings {
  readonly location: string
  readonly format: DestinationFormat
  readonly credentials: DestinationCredentials | null
}

/** Refuses a new destination; returns the settings as they are stored. `obstacle`: why there can be no directory here. */
export const checkPlace = Effect.fnUntraced(function* (
  check: Check,
  { location, format, credentials, ...settings }: GivenPlace,
  obstacle: string | null,
) {
  const fault = locationFault(location)
  if (fault !== null) {
    return yield* refuse("bad_location", `The location must be ${LOCATION_EXPECTED}. In this one, ${fault}.`)
  }
  if (isNats(location)) {
    if (format !== "ndjson") return yield* refuse("bad_location", ONLY_FILES)
    if (credentials !== null) yield* checkCredentials(location, credentials)
    return yield* checkSettings(check, location, settings)
  }
  if (!isS3(location)) {
    if (!isEmpty(settings) || credentials !== null) return yield* refuse("not_s3", NOT_S3)
    return obstacle === null ? S3_SETTINGS.defaults : yield* refuse("bad_location", obstacle)
  }
  if (credentials === null) {
    return yield* refuse("credentials_needed", "A bucket needs credentials: an access key and its secret key.")
  }
  yield* checkCredentials(location, credentials)
  return yield* checkSettings(check, location, settings)
})

/** Where the credentials are sent. */
const receiver = (location: string, settings: S3Settings): string =>
  isNats(location) ? (settings.endpoint ?? "") : serviceUrl(settings).origin

/** Refuses a change; returns all settings after it. */
export const checkChange = Effect.fnUntraced(function* (
  check: Check,
  was: S3Settings & { readonly location: string; readonly hasCredentials: boolean },
  { credentials, ...change }: Partial<S3Settings> & { readonly credentials?: DestinationCredentials },
) {
  const { location } = was
  if (!isS3(location) && !isNats(location)) return yield* refuse("not_s3", NOT_S3)
  if (credentials !== undefined) yield* checkCredentials(location, credentials)
  const { endpoint, region, urlStyle } = was
  const settings = yield* checkSettings(check, location, { endpoint, region, urlStyle, ...change })
  const leaves = settings.endpoint !== was.endpoint && receiver(location, settings) !== receiver(location, was)
  if (leaves && was.hasCredentials && credentials === undefined) {
    const message = `The credentials were given for ${receiver(location, was)}: give them again for another endpoint.`
    return yield* refuse("credentials_needed", message)
  }
  return settings
})
