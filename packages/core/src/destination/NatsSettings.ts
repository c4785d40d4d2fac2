/** A destination in a stream of NATS JetStream: `nats://STREAM/SUBJECT`, its brokers, and what signs in to them. */

const SCHEME = "nats://"

/** Whether a location is a stream. */
export const isNats = (location: string): boolean => location.startsWith(SCHEME)

/** A stream, and what the subjects of its messages begin with. */
export interface NatsPlace {
  readonly stream: string
  readonly subject: string
}

const STREAM = /^[A-Za-z0-9_-]{1,100}$/
const SUBJECT = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){0,9}$/
const MAX_SUBJECT = 100

/** Null for a location that is not `nats://STREAM/SUBJECT`. Without a subject it is `cabinet`. */
export const parseNats = (location: string): NatsPlace | null => {
  if (!isNats(location)) return null
  const [stream = "", subject = "cabinet", ...others] = location.slice(SCHEME.length).split("/")
  const isPlace = STREAM.test(stream) && subject.length <= MAX_SUBJECT && SUBJECT.test(subject) && others.length === 0
  return isPlace ? { stream, subject } : null
}

/** One broker of an endpoint. */
export interface Broker {
  /** Whether the connection must be encrypted. */
  readonly secure: boolean
  /** A name or an IP address, without brackets. */
  readonly host: string
  readonly port: number
  /** For the check of its addresses. */
  readonly url: URL
  /** The form in which it is stored. */
  readonly text: string
}

const MAX_BROKERS = 9
const PORT = 4222

const parseBroker = (text: string): Broker | null => {
  const [, scheme, rest] = /^(nats|tls):\/\/([^/]+)\/?$/.exec(text.trim()) ?? []
  const url = rest === undefined ? null : URL.parse(`http://${rest}`)
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return null
  // The port of HTTP is left out of `url`.
  const port = Number(/:(\d+)$/.exec(rest!)?.[1] ?? PORT)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return { secure: scheme === "tls", host, port, url, text: `${scheme}://${url.hostname}:${port}` }
}

/** The brokers of an endpoint, separated by commas; null if it is anything else. */
export const parseBrokers = (endpoint: string): ReadonlyArray<Broker> | null => {
  const brokers = endpoint.split(",").map(parseBroker)
  const isList = brokers.length <= MAX_BROKERS && brokers.every((broker) => broker !== null)
  return isList ? brokers : null
}

/** What signs in to a broker. Never shown. */
export type NatsCredentials =
  | { readonly user: string; readonly password: string }
  | { readonly token: string }
  /** `seed`: of an nkey. With a `jwt`, both are what a `.creds` file has. */
  | { readonly seed: string; readonly jwt: string | null }

const isText = (text: string, most: number) => text.length > 0 && text.length <= most && !/\p{Cc}/u.test(text)

/** Why credentials cannot be used, in words that have no part of them; null if they can. */
export const natsCredentialsRefusal = (credentials: NatsCredentials): string | null => {
  if ("user" in credentials) {
    const { user, password } = credentials
    return isText(user, 256) && isText(password, 1024) ? null : "The user and the password must be texts of one line."
  }
  if ("token" in credentials) return isText(credentials.token, 1024) ? null : "The token must be a text of one line."
  const { seed, jwt } = credentials
  if (!/^SU[A-Z2-7]{56}$/.test(seed)) return "The seed must be that of a user's nkey: SU and 56 letters and digits."
  const isJwt = jwt === null || (jwt.length <= 8192 && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt))
  return isJwt ? null : "The JWT must have three parts with dots between them."
}
