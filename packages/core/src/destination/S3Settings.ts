/**
 * How a destination in a bucket or a stream is reached, each setting declared once. JSON, bodies, OpenAPI, checks, error codes, flags, form
 * fields and columns follow from `S3_SETTINGS`. Those of a directory are all null.
 */
import { type Setting, settingsOf } from "../json/Setting.ts"
import { parseEndpoint } from "./Endpoint.ts"
import { namesBrokers, parseBrokers, readBrokers } from "./NatsSettings.ts"

/** How a bucket is named in a URL: in its path, or as a part of the host name. */
export const URL_STYLES = ["path", "virtual-host"] as const
/** One of `URL_STYLES`. */
export type UrlStyle = (typeof URL_STYLES)[number]

/** How a bucket is reached. */
export interface S3Settings {
  /** The URL of the service; null for Amazon's in the region. For a stream, the URLs of its brokers, separated by commas. */
  readonly endpoint: string | null
  /** Null: us-east-1. */
  readonly region: string | null
  /** Null: the path with an endpoint, otherwise the host name. */
  readonly urlStyle: UrlStyle | null
}

const endpointRefusal = (text: string): string | null => {
  if (namesBrokers(text)) {
    const read = readBrokers(text)
    return typeof read === "string" ? read : null
  }
  const read = parseEndpoint(text, ["https", "http"])
  return "why" in read
    ? `The endpoint is not valid from character ${read.at + 1}: ${read.why}. It is a URL such as https://s3.example.com, or for a stream tls://nats.example.com:4222; brokers have commas between them.`
    : null
}

/** The endpoint in the form in which it is stored. */
const storedEndpoint = (endpoint: string): string =>
  parseBrokers(endpoint)
    ?.map(({ text }) => text)
    .join() ??
  URL.parse(endpoint)?.origin ??
  endpoint

const DECLARED = {
  endpoint: {
    about:
      "The URL of the S3 service; null: Amazon's in the region, and always for a directory. For a stream, the URLs of its brokers, `nats://` or `tls://`, separated by commas.",
    input: { kind: "text", maxLength: 300, example: "https://s3.example.com" },
    default: null,
    check: {
      refusal: endpointRefusal,
      code: "bad_endpoint",
      meaning: "The endpoint is not a URL without path, query and password whose scheme fits the place.",
    },
    stored: (endpoint: string | null) => (endpoint === null ? null : storedEndpoint(endpoint)),
    flag: {
      metavar: "URL",
      about:
        "URL of the S3 service; none (the default) for Amazon's in the region. For a stream, the URLs of its brokers, with commas",
    },
  },
  region: {
    about: "The region of the bucket; null: us-east-1, which most other services take as well.",
    input: { kind: "text", maxLength: 50, example: "eu-central-1" },
    default: null,
    check: {
      refusal: (region: string) =>
        /^[a-z0-9-]+$/.test(region)
          ? null
          : "A region has only letters of a to z, digits and hyphens, as eu-central-1.",
      code: "bad_region",
      meaning: "The region is not a name of letters of a to z, digits and hyphens.",
    },
    flag: { metavar: "REGION", about: "Region of the bucket; none (the default) for us-east-1" },
  },
  urlStyle: {
    about: "Where URLs name the bucket; null: in the path with an endpoint, otherwise in the host name.",
    input: { kind: "choice", values: URL_STYLES },
    default: null,
    flag: { about: "Where URLs name the bucket; none (the default): path with --endpoint, otherwise virtual-host" },
  },
} as const satisfies { readonly [K in keyof S3Settings]: Setting<S3Settings[K]> }

/** The settings, and what follows from their declarations. */
export const S3_SETTINGS = settingsOf<S3Settings>()(DECLARED)

/** What requests are signed with. Never shown. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials. */
  readonly sessionToken: string | null
}

/** Why credentials cannot be used, in words that have no part of them; null if they can. */
export const credentialsRefusal = ({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials): string | null => {
  const isWord = (text: string, most: number) => text.length <= most && /^[\x21-\x7e]+$/.test(text)
  if (!isWord(accessKeyId, 128) || accessKeyId.includes("/")) return "The access key must be a word without slashes."
  if (!isWord(secretAccessKey, 256)) return "The secret key must be a word of letters, digits and signs."
  return sessionToken === null || isWord(sessionToken, 8192) ? null : "The session token must be a word."
}

const SCHEME = "s3://"

/** Whether a location is in a bucket rather than a directory. */
export const isS3 = (location: string): boolean => location.startsWith(SCHEME)

/** A bucket and the names below it. */
export interface S3Place {
  readonly bucket: string
  /** Empty for the bucket itself. */
  readonly prefix: ReadonlyArray<string>
}

/** Null for a location that is not `s3://BUCKET/PREFIX`; which names there may be is the caller's to decide. */
export const parseS3 = (location: string): S3Place | null => {
  if (!isS3(location)) return null
  const [bucket = "", ...prefix] = location.slice(SCHEME.length).split("/")
  return /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) ? { bucket, prefix } : null
}

/** The URL of the service, without the bucket's name. */
export const serviceUrl = ({ endpoint, region }: S3Settings): URL =>
  new URL(endpoint ?? `https://s3.${region ?? "us-east-1"}.amazonaws.com`)

/** The URL of the bucket: requests append a slash and a key. */
export const bucketUrl = (bucket: string, settings: S3Settings): string => {
  const { protocol, host, origin } = serviceUrl(settings)
  const style = settings.urlStyle ?? (settings.endpoint === null ? "virtual-host" : "path")
  return style === "path" ? `${origin}/${bucket}` : `${protocol}//${bucket}.${host}`
}
