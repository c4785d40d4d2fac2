import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { confirmationIn, isTopic, snsAddress } from "@data-cabinet/core/verification/SnsMessage"
import { verifySns } from "@data-cabinet/core/verification/VerifySns"
import { Effect } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import { CERTIFICATE_URL, type SnsFields, snsTopic, SUBSCRIBE_URL, TOPIC } from "../../../../test/support/snsTopic.ts"

const topic = snsTopic()
const { certificate } = topic.state
const NOW = Date.parse("2026-11-27T10:00:00.000Z") / 1000
const AT = { Timestamp: "2026-11-27T10:00:00.000Z" }

beforeEach(() => {
  topic.state.certificate = certificate
  topic.requested.length = 0
})

const verdict = (body: string, { secrets = [TOPIC], now = NOW } = {}) =>
  Effect.runSync(verifySns(Buffer.from(body), { secrets, now, from: null }, topic.service))

describe("verifySns", () => {
  it("accepts each type of message, with a subject or without, in both versions of the signature", () => {
    for (const SignatureVersion of ["1", "2"]) {
      expect(verdict(topic.message({ ...AT, SignatureVersion }))).toBeNull()
      expect(verdict(topic.message({ ...AT, SignatureVersion, Subject: "Order" }))).toBeNull()
      expect(verdict(topic.confirmation({ ...AT, SignatureVersion }))).toBeNull()
      const ended = { Type: "UnsubscribeConfirmation", Token: "t", SubscribeURL: SUBSCRIBE_URL }
      expect(verdict(topic.message({ ...AT, SignatureVersion, ...ended }))).toBeNull()
    }
    expect(new Set(topic.requested)).toEqual(new Set([CERTIFICATE_URL]))
    expect(verdict(topic.message(AT), { secrets: ["arn:aws:sns:eu-west-1:123456789012:old", TOPIC] })).toBeNull()
  })

  it("accepts a message up to two hours old", () => {
    expect(verdict(topic.message(AT), { now: NOW + 7200 })).toBeNull()
    for (const now of [NOW + 7201, NOW - 7201]) expect(verdict(topic.message(AT), { now })).toBe("old_timestamp")
  })

  it.each<[SnsFields]>([
    [{ Message: "another" }],
    [{ MessageId: "another" }],
    [{ Subject: "added" }],
    [{ Timestamp: "2026-11-27T10:00:01.000Z" }],
    [{ TopicArn: "arn:aws:sns:eu-central-1:123456789012:other" }],
    [{ SignatureVersion: "1" }],
    [{ SignatureVersion: "3" }],
    [{ SignatureVersion: undefined }],
    [{ Signature: "AAAA" }],
    [{ Signature: "not base64!" }],
    [{ Type: "UnsubscribeConfirmation", Token: "t", SubscribeURL: SUBSCRIBE_URL }],
  ])("refuses a message changed to %j", (after) => {
    expect(verdict(topic.message(AT, after))).toBe("bad_signature")
  })

  it.each([
    ["http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.eu-central-1.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://evil.example/sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.eu-central-1.amazonaws.com@evil.example/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://user@sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://xsns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.evil.example.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.s3-accelerate.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.s3-website-us-west-2.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.execute-api.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://bucket.s3.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"],
    ["https://sns.eu-central-1.amazonaws.com/?Action=GetCert"],
    ["https://sns.eu-central-1.amazonaws.com/other.pem"],
    ["https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem?x=1"],
    ["https://127.0.0.1/SimpleNotificationService-0123456789abcdef.pem"],
    ["not a URL"],
    [""],
  ])("refuses the certificate at %s without a request, however well the message is signed", (SigningCertURL) => {
    expect(verdict(topic.message({ ...AT, SigningCertURL }))).toBe("bad_signature")
    expect(topic.requested).toEqual([])
  })

  it("refuses another topic without a request", () => {
    const other = "arn:aws:sns:eu-central-1:999999999999:orders"
    expect(verdict(topic.message({ ...AT, TopicArn: other }))).toBe("bad_signature")
    expect(verdict(topic.message(AT), { secrets: [] })).toBe("bad_signature")
    expect(topic.requested).toEqual([])
  })

  it.each(["", "{}", "[]", "null", "{", '{"Type":"Notification"}', '{"a":1}', "Message=1"])(
    "finds no signature in the body %j, as raw message delivery sends",
    (body) => {
      expect(verdict(body)).toBe("no_signature")
    },
  )

  it("finds no signature in a message without a signed member, or of another type", () => {
    for (const name of ["Message", "MessageId", "Timestamp", "TopicArn", "Type", "Signature", "SigningCertURL"])
      expect(verdict(topic.message(AT, { [name]: undefined }))).toBe("no_signature")
    expect(verdict(topic.confirmation(AT, { Token: undefined }))).toBe("no_signature")
    for (const Type of ["toString", "notification", ""])
      expect(verdict(topic.message(AT, { Type }))).toBe("no_signature")
  })

  it("refuses a message when its certificate is missing, damaged or of another kind", () => {
    for (const pem of [null, "", "<html>", topic.certificateOfAnotherKind]) {
      topic.state.certificate = Effect.succeed(pem)
      expect(verdict(topic.message(AT))).toBe("bad_signature")
    }
  })

  it("fails when the certificate cannot be fetched", () => {
    const away = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })
    topic.state.certificate = Effect.fail(away)
    const tried = verifySns(Buffer.from(topic.message(AT)), { from: null, secrets: [TOPIC], now: NOW }, topic.service)
    expect(Effect.runSync(Effect.flip(tried))).toBe(away)
  })
})

describe("confirmationIn", () => {
  it("returns the SNS URL that confirms the message's own topic", () => {
    expect(confirmationIn(Buffer.from(topic.confirmation(AT)))?.href).toBe(SUBSCRIBE_URL)
    for (const body of ["{}", topic.message(AT)]) expect(confirmationIn(Buffer.from(body))).toBeNull()
  })

  it.each([
    ["https://evil.example/?Action=ConfirmSubscription"],
    [SUBSCRIBE_URL.replace("https:", "http:")],
    [SUBSCRIBE_URL.replace("ConfirmSubscription", "DeleteTopic")],
    [SUBSCRIBE_URL.replace("orders", "others")],
    [SUBSCRIBE_URL.replace("/?", "/x?")],
    [SUBSCRIBE_URL.replace("amazonaws.com", "amazonaws.com.evil.example")],
  ])("is not %s; a message with it is a forgery", (SubscribeURL) => {
    const body = topic.confirmation({ ...AT, SubscribeURL })
    expect(confirmationIn(Buffer.from(body))).toBeNull()
    expect(verdict(body)).toBe("bad_signature")
  })
})

it("isTopic recognizes the names of topics", () => {
  for (const name of [TOPIC, `${TOPIC}.fifo`, "arn:aws-us-gov:sns:us-gov-west-1:123456789012:a_B-9"])
    expect(isTopic(name)).toBe(true)
  for (const name of [
    "",
    "orders",
    TOPIC.replace("sns", "sqs"),
    `${TOPIC}:x`,
    ` ${TOPIC}`,
    TOPIC.replace("9012", "90"),
    `${TOPIC}\n`,
  ])
    expect(isTopic(name)).toBe(false)
  expect(snsAddress(`https://sns.eu-central-1.amazonaws.com/${"x".repeat(2048)}`)).toBeNull()
})
