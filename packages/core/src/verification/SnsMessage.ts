/**
 * The messages of Amazon SNS: which text of a message is signed, and which addresses in it belong to SNS. Anyone with an
 * account there can have SNS sign a message, so its topic must be the one that the source names.
 */
import { jsonObjectIn } from "./RequestFields.ts"

const NOTIFICATION = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"] as const
const CONFIRMATION = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"] as const

/** The signed members of each type, in their order. */
const SIGNED = {
  Notification: NOTIFICATION,
  SubscriptionConfirmation: CONFIRMATION,
  UnsubscribeConfirmation: CONFIRMATION,
} as const

type MessageType = keyof typeof SIGNED

export interface SnsMessage {
  readonly type: MessageType
  readonly topic: string
  readonly signedText: string
  readonly signature: Buffer
  readonly algorithm: "RSA-SHA1" | "RSA-SHA256"
  readonly certificate: URL
  /** Where the subscription is confirmed; null for any other message. */
  readonly confirmation: URL | null
  /** When it was published, in seconds since 1970. */
  readonly publishedAt: number
}

/** The shape of a topic's name. */
const TOPIC = /^arn:aws(?:-[a-z]+)*:sns:[a-z0-9-]{1,50}:[0-9]{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/

/** Whether a text is the name of a topic: its ARN. */
export const isTopic = (text: string): boolean => TOPIC.test(text)

const ALGORITHMS: Readonly<Record<string, SnsMessage["algorithm"]>> = { "1": "RSA-SHA1", "2": "RSA-SHA256" }

const BASE64 = /^[0-9A-Za-z+/]{4,1400}={0,2}$/

/**
 * The message in a body; null if it is not one of SNS. A wrong address or signature is `refused`: such a message is a
 * forgery.
 */
export const snsMessageIn = (body: Uint8Array): SnsMessage | "refused" | null => {
  const object = jsonObjectIn(body)
  if (object === null) return null
  const text = (name: string): string | null => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    return typeof value === "string" ? value : null
  }
  const [type, topic, sent, certificateUrl] = ["Type", "TopicArn", "Signature", "SigningCertURL"].map(text)
  if (type == null || topic == null || sent == null || certificateUrl == null) return null
  if (!Object.hasOwn(SIGNED, type)) return null
  let signedText = ""
  for (const name of SIGNED[type as MessageType]) {
    const value = text(name)
    if (value !== null) signedText += `${name}\n${value}\n`
    // A message without a subject signs none.
    else if (name !== "Subject") return null
  }
  const certificate = snsAddress(certificateUrl)
  const algorithm = ALGORITHMS[text("SignatureVersion") ?? ""]
  const publishedAt = Date.parse(text("Timestamp") ?? "") / 1000
  if (certificate === null || !isCertificate(certificate) || algorithm === undefined || !BASE64.test(sent)) {
    return "refused"
  }
  if (Number.isNaN(publishedAt)) return "refused"
  const confirmation = type === "SubscriptionConfirmation" ? snsAddress(text("SubscribeURL") ?? "") : null
  if (type === "SubscriptionConfirmation" && !confirms(confirmation, topic)) return "refused"
  const signature = Buffer.from(sent, "base64")
  return { type: type as MessageType, topic, signedText, signature, algorithm, certificate, confirmation, publishedAt }
}

/**
 * `sns.<region>.amazonaws.com`, and no name that merely ends or begins like it. Other services have names of the same form:
 * `sns.s3-accelerate.amazonaws.com` is anybody's bucket. A region ends with its number, and begins with two letters.
 */
const HOST = /^sns\.[a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}\.amazonaws\.com$/

/** An address of SNS by https, at its own port; null for any other. */
export const snsAddress = (text: string): URL | null => {
  if (text.length > 2048 || !URL.canParse(text)) return null
  const url = new URL(text)
  const isPlain = url.port === "" && url.username === "" && url.password === "" && url.hash === ""
  return url.protocol === "https:" && HOST.test(url.hostname) && isPlain ? url : null
}

const isCertificate = ({ pathname, search }: URL): boolean =>
  search === "" && /^\/SimpleNotificationService-[0-9A-Za-z]{16,128}\.pem$/.test(pathname)

const confirms = (url: URL | null, topic: string): boolean =>
  url !== null &&
  url.pathname === "/" &&
  url.searchParams.get("Action") === "ConfirmSubscription" &&
  url.searchParams.get("TopicArn") === topic

/** Where the subscription of this message is confirmed; null for any other body. */
export const confirmationIn = (body: Uint8Array): URL | null => {
  const message = snsMessageIn(body)
  return message === null || message === "refused" ? null : message.confirmation
}
