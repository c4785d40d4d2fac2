/**
 * Which texts are a client certificate and its key, what is stored of them, and that a refusal quotes nothing of the
 * key.
 */
import { X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { certificateIn, checkPeriod, readIdentity } from "@data-cabinet/core/delivery/ClientCertificate"
import { Result } from "effect"
import { afterAll, expect, it } from "vitest"
import { Authority } from "../../../../test/support/certificates.ts"

const root = new Authority("root")
const middle = root.issue("middle", { authority: true })
const authority = new Authority("middle", middle)
const client = authority.issue("client")
const other = authority.issue("other")
afterAll(() => {
  root.remove()
  authority.remove()
})

const chain = `${client.cert}${middle.cert}${root.cert}`

const refusalOf = (certificate: string, key: string): string => {
  const read = readIdentity({ certificate, key })
  if (Result.isSuccess(read)) throw new Error("it was read")
  const { code, message } = read.failure
  for (const line of key.split("\n")) if (line.length > 20 && !line.startsWith("-")) expect(message).not.toContain(line)
  return `${code}: ${message}`
}

it.each([
  ["a certificate alone", client.cert, 1],
  ["a chain", chain, 3],
  [
    "text between the blocks, with the line ends of Windows",
    chain.replaceAll("-----BEGIN", "note\n-----BEGIN").replaceAll("\n", "\r\n"),
    3,
  ],
  ["a file with the key as well", `${client.key}${chain}`, 3],
])("readIdentity reads %s, and keeps nothing but the certificates", (_name, certificate, count) => {
  const read = Result.getOrThrow(
    readIdentity({ certificate, key: certificate.includes("PRIVATE") ? certificate : client.key }),
  )
  expect(read.certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(count)
  expect(read.certificate).not.toMatch(/PRIVATE|note|\r/)
  expect(read.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n[^-]+-----END PRIVATE KEY-----\n$/)
  // TLS accepts what is stored.
  createSecureContext({ cert: read.certificate, key: read.key })
  expect(Result.getOrThrow(readIdentity(read))).toEqual(read)
})

it.each([
  ["RSA of 2,048 bits", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], true],
  ["RSA of 1,024 bits", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], false],
  ["P-384", ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], true],
  ["secp256k1", ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], false],
  ["Ed25519", ["-algorithm", "ED25519"], true],
])("readIdentity accepts only a key that TLS can sign with: %s", (_name, words, isUsable) => {
  const { cert, key } = root.issue("kind", { key: words })
  if (!isUsable)
    return expect(refusalOf(cert, key)).toMatch(/^bad_client_key: The key must be RSA of 2048 to 8192 bits/)
  const read = Result.getOrThrow(readIdentity({ certificate: cert, key }))
  createSecureContext({ cert: read.certificate, key: read.key })
})

it("readIdentity reads older key formats, and says what to do when it refuses a passphrase", () => {
  const sec1 = root.convert(client.key, "ec")
  expect(sec1).toContain("BEGIN EC PRIVATE KEY")
  const { key } = Result.getOrThrow(readIdentity({ certificate: client.cert, key: sec1 }))
  expect(key).toBe(Result.getOrThrow(readIdentity({ certificate: client.cert, key: client.key })).key)
  const encrypted = [
    root.convert(client.key, "pkcs8", "-topk8", "-passout", "pass:hush"),
    root.convert(client.key, "ec", "-aes128", "-passout", "pass:hush"),
  ]
  for (const locked of encrypted) {
    expect(refusalOf(client.cert, locked)).toMatch(
      /^bad_client_key: The key is encrypted with a passphrase: .*openssl pkey/,
    )
  }
})

it.each([
  ["no certificate", () => "", () => client.key, /^bad_certificate: No certificate found: it must be in PEM/],
  ["a certificate in DER", () => "0\u0082\u0001", () => client.key, /^bad_certificate: No certificate found/],
  ["files in each other's place", () => client.key, () => client.cert, /^bad_certificate: No certificate found/],
  ["a certificate that is cut", () => client.cert.slice(0, -30), () => client.key, /^bad_certificate: No cert/],
  [
    "a damaged certificate",
    () => client.cert.replace("MII", "AAA").replace("MIIB", "AAAA"),
    () => client.key,
    /^bad_certificate: Certificate 1 of the chain is damaged/,
  ],
  [
    "a chain in another order",
    () => `${client.cert}${root.cert}${middle.cert}`,
    () => client.key,
    /^bad_certificate: Certificate 2 of the chain did not issue the previous one/,
  ],
  [
    "more certificates than a chain has",
    () => root.cert.repeat(11),
    () => client.key,
    /^bad_certificate: A chain may have at most 10/,
  ],
  [
    "too long a certificate",
    () => `${client.cert}${" ".repeat(65_536)}`,
    () => client.key,
    /^bad_certificate: .* at most 65536 characters/,
  ],
  ["no key", () => client.cert, () => "", /^bad_client_key: No private key found/],
  [
    "a public key",
    () => client.cert,
    () => client.key.replaceAll("PRIVATE", "PUBLIC"),
    /^bad_client_key: No private key found/,
  ],
  [
    "a damaged key",
    () => client.cert,
    () => client.key.replace("MIG", "AAA"),
    /^bad_client_key: The private key is damaged/,
  ],
  ["two keys", () => client.cert, () => `${client.key}${other.key}`, /^bad_client_key: There is more than one/],
  [
    "too long a key",
    () => client.cert,
    () => `${client.key}${" ".repeat(16_384)}`,
    /^bad_client_key: .* at most 16384 characters/,
  ],
  [
    "the key of another certificate",
    () => client.cert,
    () => other.key,
    /^bad_client_key: The key is not that of the certificate/,
  ],
  [
    "the chain before the certificate",
    () => middle.cert,
    () => client.key,
    /^bad_client_key: The key is not that of the certificate/,
  ],
  [
    "blocks that have no end",
    () => "-----BEGIN CERTIFICATE-----".repeat(2000),
    () => "-----BEGIN ".repeat(1000),
    /^bad_certificate/,
  ],
])("readIdentity refuses %s", (_name, certificate, key, words) => {
  expect(refusalOf(certificate(), key())).toMatch(words)
})

it("checkPeriod refuses a certificate outside its validity period, and certificateIn shows it as openssl does", () => {
  const { validFromDate, validToDate, fingerprint256 } = new X509Certificate(client.cert)
  const at = (millis: number) => checkPeriod({ certificate: chain, key: "" }, millis)
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  expect([at(from), at(to - 1)].every(Result.isSuccess)).toBe(true)
  expect(Result.getOrThrow(Result.flip(at(to))).message).toBe(`The certificate ended at ${validToDate.toISOString()}.`)
  expect(Result.getOrThrow(Result.flip(at(from - 1))).message).toMatch(/^The certificate begins at /)
  const shown = {
    subject: "CN=client",
    issuer: "CN=middle",
    fingerprint: fingerprint256,
    endsAt: validToDate.toISOString(),
  }
  expect(certificateIn(chain)).toEqual(shown)
  expect([certificateIn(""), certificateIn("anything")]).toEqual([null, null])
})
