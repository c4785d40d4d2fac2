/** A topic of Amazon SNS that signs as SNS documents, with its own certificate, and responds as SNS would. */
import { sign } from "node:crypto"
import { Effect } from "effect"
import { Authority } from "./certificates.ts"
import type { SnsService } from "@data-cabinet/core/verification/VerifySns"

export const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders"
export const CERTIFICATE_URL =
  "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"
export const SUBSCRIBE_URL = `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f`

const SIGNED: Readonly<Record<string, ReadonlyArray<string>>> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
}

export type SnsFields = Readonly<Record<string, string | undefined>>

export const snsTopic = () => {
  const authority = new Authority("test")
  const rsa = authority.issue("sns.amazonaws.com", { key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"] })
  const ec = authority.issue("sns.amazonaws.com")
  authority.remove()
  const requested: Array<string> = []
  const state = { certificate: Effect.succeed(rsa.cert) as ReturnType<SnsService["Service"]["certificate"]> }
  const service: SnsService["Service"] = {
    certificate: (address) => {
      requested.push(address.href)
      return state.certificate
    },
    confirm: (address) => Effect.sync(() => void requested.push(address.href)),
  }
  /** A message that was signed before `after` changed its members. */
  const message = (given: SnsFields, after: SnsFields = {}): string => {
    const fields: SnsFields = {
      Type: "Notification",
      MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
      TopicArn: TOPIC,
      Message: '{"order":1,"text":"ж\\n"}',
      Timestamp: new Date().toISOString(),
      SignatureVersion: "2",
      SigningCertURL: CERTIFICATE_URL,
      ...given,
    }
    const text = (SIGNED[fields["Type"]!] ?? [])
      .filter((name) => fields[name] !== undefined)
      .map((name) => `${name}\n${fields[name]}\n`)
      .join("")
    const algorithm = fields["SignatureVersion"] === "1" ? "RSA-SHA1" : "RSA-SHA256"
    const Signature = sign(algorithm, Buffer.from(text), rsa.key).toString("base64")
    return JSON.stringify({ ...fields, Signature, ...after })
  }
  const confirmation = (given: SnsFields = {}, after: SnsFields = {}): string =>
    message({ Type: "SubscriptionConfirmation", Token: "2336412f", SubscribeURL: SUBSCRIBE_URL, ...given }, after)
  return { state, service, requested, message, confirmation, certificateOfAnotherKind: ec.cert }
}
