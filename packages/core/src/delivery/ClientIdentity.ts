/**
 * The certificate and key with which the service identifies itself to a receiver that demands one, declared once. They are accepted
 * and never shown.
 *
 * Decision: docs/decisions/0077-client-certificates.md
 */
import { type Setting, settingsOf } from "../json/Setting.ts"

/** The certificate and key with which the service identifies itself; both in PEM. */
export interface ClientIdentity {
  /** The client's own certificate, followed by the intermediate authorities up to a trusted one. */
  readonly certificate: string
  readonly key: string
}

/** The settings of an address that are never shown. */
export interface SecretSettings {
  /** Presented to https addresses, as long as the URL keeps its origin; null: none. */
  readonly clientIdentity: ClientIdentity | null
}

/** The longest certificate chain, in PEM. */
export const MAX_CERTIFICATE_CHARACTERS = 65_536
/** The longest private key, in PEM. */
export const MAX_KEY_CHARACTERS = 16_384

const IDENTITY = {
  certificate: {
    about: "In PEM, followed by the chain, if it has one.",
    input: {
      kind: "text",
      maxLength: MAX_CERTIFICATE_CHARACTERS,
      example: "-----BEGIN CERTIFICATE-----",
      is: "document",
    },
    default: "",
    refused: {
      code: "bad_certificate",
      meaning: "The client certificate cannot be used, or the address is not https; the message says why.",
    },
    flag: {
      name: "client-certificate-file",
      metavar: "FILE",
      about:
        "File with the certificate that identifies us to the receiver (mutual TLS), in PEM, followed by its chain; needs --client-key-file",
    },
  },
  key: {
    about: "Its private key in PEM, without a passphrase. Secret: never shown.",
    input: {
      kind: "text",
      maxLength: MAX_KEY_CHARACTERS,
      example: "-----BEGIN PRIVATE KEY-----",
      is: "document",
      secret: true,
    },
    default: "",
    refused: {
      code: "bad_client_key",
      meaning: "The key of the client certificate cannot be used; the message says why.",
    },
    flag: {
      name: "client-key-file",
      metavar: "FILE",
      about:
        "File with the private key of that certificate, in PEM, without a passphrase; - for standard input. Never shown",
    },
  },
} as const satisfies { readonly [K in keyof ClientIdentity]: Setting<ClientIdentity[K]> }

const BOTH = ["certificate", "key"] as const

const SECRETS = {
  clientIdentity: {
    about:
      "With which the service identifies itself to a receiver that demands a client certificate (mutual TLS); null: with none.",
    input: { kind: "parts", of: settingsOf<ClientIdentity>()(IDENTITY), required: BOTH, needed: BOTH },
    default: null,
  },
} as const satisfies { readonly [K in keyof SecretSettings]: Setting<SecretSettings[K]> }

/** The settings that are never shown. */
export const SECRET_SETTINGS = settingsOf<SecretSettings>()(SECRETS)
