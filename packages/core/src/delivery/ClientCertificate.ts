/**
 * The certificate, with its key, with which the service identifies itself to a receiver that requires one (mutual TLS).
 * The key is never shown, and no message contains any of it.
 *
 * Decision: docs/decisions/0077-client-certificates.md
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { Result } from "effect"
import * as Shape from "../json/Shape.ts"
import { AddressError } from "./AddressError.ts"
import { type ClientIdentity, MAX_CERTIFICATE_CHARACTERS, MAX_KEY_CHARACTERS } from "./ClientIdentity.ts"

/** Its public facts. */
export interface ClientCertificate {
  readonly subject: string
  readonly issuer: string
  /** SHA-256, as `openssl x509 -fingerprint -sha256` prints it. */
  readonly fingerprint: string
  /** RFC 3339 in UTC. */
  readonly endsAt: string
}

/** A certificate as the APIs show it. */
export const clientCertificateShape = Shape.object<ClientCertificate>(
  "With which the service identifies itself to the receiver. Its key is secret.",
  {
    subject: Shape.text("Whom it names."),
    issuer: Shape.text("Who issued it."),
    fingerprint: Shape.text("SHA-256, in upper-case hexadecimal with colons."),
    endsAt: Shape.time("Until when it is valid."),
  },
)

const MAX_CHAIN = 10

/** Keys that TLS can sign with; longer RSA keys would block the process on each connection. */
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 8192
const CURVES: ReadonlyArray<string | undefined> = ["prime256v1", "secp384r1", "secp521r1"]
const EDWARDS: ReadonlyArray<string | undefined> = ["ed25519", "ed448"]

type Refused<A> = Result.Result<A, AddressError>

const badCertificate = (message: string) => Result.fail(new AddressError({ code: "bad_certificate", message }))
const badKey = (message: string) => Result.fail(new AddressError({ code: "bad_client_key", message }))

interface PemBlock {
  readonly label: string
  readonly text: string
}

/** Text between the blocks is ignored. */
const pemBlocks = (text: string): ReadonlyArray<PemBlock> => {
  const blocks: Array<PemBlock> = []
  for (let at = 0; ;) {
    const begin = text.indexOf("-----BEGIN ", at)
    const label = /^[A-Z0-9 ]{1,40}(?=-----)/.exec(text.slice(begin + 11, begin + 60))?.[0]
    if (begin < 0 || label === undefined) return blocks
    const mark = `-----END ${label}-----`
    const end = text.indexOf(mark, begin)
    if (end < 0) return blocks
    at = end + mark.length
    blocks.push({ label, text: `${text.slice(begin, at).replaceAll("\r\n", "\n")}\n` })
  }
}

const parseCertificate = (text: string): X509Certificate | null => {
  try {
    return new X509Certificate(text)
  } catch {
    return null
  }
}

/** The chain's blocks, each issued by the next. */
const readChain = (text: string): Refused<ReadonlyArray<PemBlock>> => {
  if (text.length > MAX_CERTIFICATE_CHARACTERS) {
    return badCertificate(`The certificate with its chain may have at most ${MAX_CERTIFICATE_CHARACTERS} characters.`)
  }
  const blocks = pemBlocks(text).filter(({ label }) => label === "CERTIFICATE")
  if (blocks.length === 0) {
    return badCertificate("No certificate found: it must be in PEM, which begins with -----BEGIN CERTIFICATE-----.")
  }
  if (blocks.length > MAX_CHAIN) return badCertificate(`A chain may have at most ${MAX_CHAIN} certificates.`)
  const chain: Array<X509Certificate> = []
  for (const block of blocks) {
    const parsed = parseCertificate(block.text)
    const number = chain.length + 1
    if (parsed === null) return badCertificate(`Certificate ${number} of the chain is damaged.`)
    if (chain.at(-1)?.checkIssued(parsed) === false) {
      return badCertificate(
        `Certificate ${number} of the chain did not issue the previous one: the client's own comes first, then its issuer's, and so on.`,
      )
    }
    chain.push(parsed)
  }
  return Result.succeed(blocks)
}

const PASSPHRASE =
  "The key is encrypted with a passphrase: give it without one, as openssl pkey -in FILE -out FILE writes it. It is encrypted by the service where CABINET_SECRET_KEY is set."

const readKey = (text: string): Refused<KeyObject> => {
  if (text.length > MAX_KEY_CHARACTERS) return badKey(`The key may have at most ${MAX_KEY_CHARACTERS} characters.`)
  const blocks = pemBlocks(text).filter(({ label }) => label.endsWith("PRIVATE KEY"))
  const [block] = blocks
  if (block === undefined) {
    return badKey("No private key found: it must be in PEM, which begins with -----BEGIN PRIVATE KEY-----.")
  }
  if (blocks.length > 1) return badKey("There is more than one private key.")
  if (block.label === "ENCRYPTED PRIVATE KEY" || block.text.includes("Proc-Type: 4,ENCRYPTED")) {
    return badKey(PASSPHRASE)
  }
  try {
    return Result.succeed(createPrivateKey(block.text))
  } catch {
    return badKey("The private key is damaged, or of a kind that is not known.")
  }
}

const isUsable = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean => {
  if (type === "ec") return CURVES.includes(details?.namedCurve)
  if (type !== "rsa" && type !== "rsa-pss") return EDWARDS.includes(type)
  const bits = details?.modulusLength ?? 0
  return bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS
}

/** Returns the form that is stored and sent: only the certificates, and the key in PKCS #8. */
export const readIdentity = ({ certificate, key }: ClientIdentity): Refused<ClientIdentity> => {
  const chain = readChain(certificate)
  if (Result.isFailure(chain)) return Result.fail(chain.failure)
  const parsed = readKey(key)
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  if (!isUsable(parsed.success)) {
    return badKey(
      `The key must be RSA of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits, or of the curve P-256, P-384, P-521, Ed25519 or Ed448.`,
    )
  }
  const [own] = chain.success
  if (!new X509Certificate(own!.text).checkPrivateKey(parsed.success)) {
    return badKey("The key is not that of the certificate, which is the first one of a chain.")
  }
  return Result.succeed({
    certificate: chain.success.map(({ text }) => text).join(""),
    key: parsed.success.export({ type: "pkcs8", format: "pem" }).toString(),
  })
}

/** Refuses a certificate outside its validity period: no receiver accepts it. */
export const checkPeriod = ({ certificate }: ClientIdentity, nowMillis: number): Refused<void> => {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  if (validToDate.getTime() <= nowMillis)
    return badCertificate(`The certificate ended at ${validToDate.toISOString()}.`)
  return validFromDate.getTime() > nowMillis
    ? badCertificate(`The certificate begins at ${validFromDate.toISOString()} only.`)
    : Result.succeed(undefined)
}

/** A name has one line per part. */
const nameText = (name: string | undefined): string => (name ?? "").split("\n").join(", ")

/** The first certificate of a chain; null if invalid. */
export const certificateIn = (pem: string): ClientCertificate | null => {
  const parsed = parseCertificate(pem)
  if (parsed === null) return null
  const { subject, subjectAltName, issuer, fingerprint256, validToDate } = parsed
  return {
    // A certificate may have its name only among the alternative ones.
    subject: nameText(subject) || nameText(subjectAltName),
    issuer: nameText(issuer),
    fingerprint: fingerprint256,
    endsAt: validToDate.toISOString(),
  }
}
