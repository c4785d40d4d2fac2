/**
 * A cabinet as a file: what may stand in it. Made of the bodies of the management API, so that a setting that is added there
 * can be written here. Secrets are only referred to.
 *
 * Decision: docs/decisions/0100-a-cabinet-as-a-file.md
 */
import { MAX_HEADERS } from "@data-cabinet/core/delivery/AddressSettings"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { newAddress } from "@data-cabinet/http-node/delivery/AddressBodies"
import { type credentialFields, newDestination } from "@data-cabinet/http-node/destination/ManageDestinations"
import { newKey, newToken } from "@data-cabinet/http-node/key/ManageKeys"
import { text } from "@data-cabinet/http-node/manage/ManageBodies"
import { newPerson } from "@data-cabinet/http-node/person/ManagePeople"
import { newPoll } from "@data-cabinet/http-node/poll/ManagePolls"
import { newSource } from "@data-cabinet/http-node/source/SourceBodies"
import { challenge, proof, verification } from "@data-cabinet/http-node/verification/VerificationBodies"
import { Schema } from "effect"

const reference = (about: string) =>
  Schema.String.check(Schema.isPattern(/^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/)).annotate({
    description: `${about} Only a reference: env:NAME or file:PATH, relative to this file.`,
  })

const writeTo = Schema.optionalKey(
  text(4096, "A file that gets the secret when it is issued, relative to this file; otherwise it is printed once."),
)

const sourceName = text(200, "The name of a source.")

const sourceNames = (description: string) =>
  Schema.optionalKey(
    Schema.Union([Schema.Literal("all"), Schema.Array(sourceName).check(Schema.isMaxLength(10_000))]).annotate({
      description,
    }),
  )

const headers = Schema.optionalKey(
  Schema.Array(
    Schema.Struct({
      name: text(100, "The header's name."),
      value: Schema.optionalKey(reference("Needed where the cabinet does not have it yet.")),
    }),
  )
    .check(Schema.isMaxLength(MAX_HEADERS))
    .annotate({ description: "All headers that are sent in addition; absent: they stay as they are." }),
)

const paused = Schema.optionalKey(
  Schema.Boolean.annotate({ description: "Whether it is paused; absent: it stays as it is." }),
)

const secret = Schema.optionalKey(reference("Needed where the cabinet does not have it yet."))

const { secret: _sent, keep_old_secret: _kept, ...verifyFields } = verification.fields
const { secret: _token, ...challengeFields } = challenge.fields
const { secret: _key, ...proofFields } = proof.fields
const { verify: _verify, challenge: _challenge, proof: _proof, ...sourceFields } = newSource.fields

const source = Schema.Struct({
  ...sourceFields,
  verify: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ ...verifyFields, secret })).annotate({
      description: "How the sender is verified; null: not at all; absent: it stays as it is.",
    }),
  ),
  challenge: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ ...challengeFields, secret })).annotate({
      description: "The provider whose question about the address is answered; null: none; absent: it stays as it is.",
    }),
  ),
  proof: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ ...proofFields, secret })).annotate({
      description: "The proof of a person that its form demands; null: none; absent: it stays as it is.",
    }),
  ),
  archived: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True: it is switched off, and its intake address responds with 404; absent: it stays as it is.",
    }),
  ),
})

const { sources: _ids, headers: _headers, client_identity: _identity, ...addressFields } = newAddress.fields

const address = Schema.Struct({
  ...addressFields,
  sources: sourceNames(
    "The names of the sources whose events it is sent; `all`, which is the default: also later ones.",
  ),
  headers,
  client_identity: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        certificate: reference("The certificate with its chain, in PEM."),
        key: reference("Its private key in PEM, without a passphrase."),
      }),
    ).annotate({
      description: "The client certificate with which it is called; null: none; absent: it stays as it is.",
    }),
  ),
  paused,
})

const { source_id: _source, headers: _values, ...pollFields } = newPoll.fields

const poll = Schema.Struct({ source: sourceName, ...pollFields, headers, paused })

const { sources: _sourceIds, credentials: _credentials, ...destinationFields } = newDestination.fields

const destination = Schema.Struct({
  ...destinationFields,
  sources: sourceNames("The names of the sources whose events it gets; `all`, which is the default: also later ones."),
  credentials: Schema.optionalKey(
    Schema.Struct({
      access_key_id: Schema.optionalKey(reference("The access key of a bucket.")),
      secret_access_key: Schema.optionalKey(reference("The secret key of a bucket.")),
      session_token: Schema.optionalKey(reference("Of a bucket's temporary credentials.")),
      user: Schema.optionalKey(reference("The user of a broker.")),
      password: Schema.optionalKey(reference("The user's password.")),
      token: Schema.optionalKey(reference("The token of a broker.")),
      seed: Schema.optionalKey(reference("The seed of an nkey for a broker.")),
      jwt: Schema.optionalKey(reference("The JWT that belongs to the seed.")),
    } satisfies { readonly [K in keyof typeof credentialFields]: unknown }).annotate({
      description:
        "What a bucket or a broker is reached with, of one kind; needed where the cabinet does not have them yet.",
    }),
  ),
  paused,
})

const schema = Schema.Struct({
  name: text(63, "The schema's name."),
}).annotate({ description: "A schema that the API reads; created for the author if the database does not have it." })

const section = <S extends Schema.Top>(entry: S, about: string) =>
  Schema.optionalKey(Schema.Array(entry).check(Schema.isMaxLength(10_000)).annotate({ description: about }))

/** The whole file. */
export const configFile = Schema.Struct({
  sources: section(source, "The sources, each named by its name."),
  schemas: section(schema, "The schemas that the API reads, besides those of the cabinet."),
  addresses: section(address, "The delivery addresses, each named by its URL."),
  polls: section(poll, "The polls, each named by its source and its URL."),
  destinations: section(destination, "The destinations of the feed, each named by its location."),
  keys: section(Schema.Struct({ ...newKey.fields, write_to: writeTo }), "The keys of the read API, named by name."),
  tokens: section(Schema.Struct({ ...newToken.fields, write_to: writeTo }), "The access tokens, named by name."),
  people: section(newPerson, "The people who sign in here, named by name."),
}).annotate({ title: "A cabinet as a file, for cabinet apply" })

/** A file that fits the schema. */
export type ConfigFile = typeof configFile.Type

/** The name of one of its sections. */
export type SectionName = keyof ConfigFile

/** One entry of a section. */
export type Entry<S extends SectionName> = NonNullable<ConfigFile[S]>[number]

/** Its sections, in the order in which they are applied: what others refer to comes first. */
export const SECTIONS = Object.keys(configFile.fields) as ReadonlyArray<SectionName>

/** The name of the file with its JSON Schema, beside it. */
export const SCHEMA_FILE = "cabinet.schema.json"

/** The JSON Schema for editors. */
export const fileJsonSchema = (): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...Schema.toJsonSchemaDocument(configFile, { onExcessProperty: "error" }).schema,
})
