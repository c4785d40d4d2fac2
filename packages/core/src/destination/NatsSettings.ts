/** A destination in a stream of NATS JetStream: `nats://STREAM/SUBJECT`, its brokers, and what signs in to them. */
import { type Endpoint, parseEndpoint } from "./Endpoint.ts"

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
const SCHEMES = ["nats", "tls"]

/** Whether an endpoint is meant to name brokers. */
export const namesBrokers = (endpoint: string): boolean => /(^|,)\s*(nats|tls):/i.test(endpoint)

const brokerOf = ({ scheme, hostname, port }: Endpoint): Broker => {
  const at = `${hostname}:${port ?? PORT}`
  const host = hostname.replace(/^\[|\]$/g, "")
  return { secure: scheme === "tls", host, port: port ?? PORT, url: new URL(`http://${at}`), text: `${scheme}://${at}` }
}

/** The brokers of an endpoint, separated by commas; or why it is not that, in words that have no part of it. */
export const readBrokers = (endpoint: string): ReadonlyArray<Broker> | string => {
  const texts = endpoint.split(",")
  if (texts.length > MAX_BROKERS) return `An endpoint has up to ${MAX_BROKERS} brokers.`
  const brokers: Array<Broker> = []
  let before = 0
  for (const [n, text] of texts.entries()) {
    const read = parseEndpoint(text.trim(), SCHEMES)
    if ("why" in read) {
      const at = before + text.length - text.trimStart().length + read.at + 1
      const which = texts.length === 1 ? "The endpoint" : `Broker ${n + 1} of the endpoint`
      return `${which} is not valid from character ${at}: ${read.why}.`
    }
    brokers.push(brokerOf(read))
    before += text.length + 1
  }
  return brokers
}

/** The brokers of an endpoint; null if it is anything else. */
export const parseBrokers = (endpoint: string): ReadonlyArray<Broker> | null => {
  const read = readBrokers(endpoint)
  return typeof read === "string" ? null : read
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
