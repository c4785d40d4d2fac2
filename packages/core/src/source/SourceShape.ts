/** The JSON of a source and its description: for readers, for its owner, and with its intake address. */
import * as Shape from "../json/Shape.ts"
import { limitedShape } from "../limit/LimitedRequests.ts"
import { formProofShape } from "../proof/FormProof.ts"
import { challengeShape } from "../verification/Challenge.ts"
import { verificationShape } from "../verification/Verification.ts"
import type { BaseUrl } from "./BaseAddress.ts"
import type { Source, SourceWithSecret } from "./Source.ts"
import { SOURCE_SETTINGS } from "./SourceSettings.ts"

type ReadableSource = Pick<Source, "id" | "name" | "archived" | "table" | "createdAt">

const readable: Shape.Members<ReadableSource> = {
  id: Shape.id("The source's id."),
  name: Shape.text(),
  archived: Shape.flag("True while the source is switched off: its intake address then returns 404."),
  table: Shape.eitherOrNull(
    Shape.object<NonNullable<Source["table"]>>("The table that holds the source's rows.", {
      schema: Shape.text(),
      name: Shape.text(),
    }),
    "The source's table; null once it was dropped.",
  ),
  createdAt: Shape.time("When the source was created."),
}

/** For readers: without its secret and settings. */
export const sourceShape = Shape.object<ReadableSource>("A source: where one sender submits data.", readable)

const { rate, ...settings } = SOURCE_SETTINGS.shapes

const owned: Shape.Members<Omit<Source, keyof ReadableSource>> = {
  ...settings,
  verify: Shape.orNull(verificationShape),
  challenge: Shape.orNull(challengeShape),
  proof: Shape.orNull(formProofShape),
  rate,
  oldSecretUntil: Shape.orNull(
    Shape.time("Until when the intake address before the last rotation is still accepted; null: it is not."),
  ),
  limited: Shape.orNull(limitedShape),
}

/** For its owner: with its settings. */
export const ownSourceShape = Shape.named(
  "OwnSource",
  Shape.object<Source>("A source with its settings.", { ...readable, ...owned }),
)

/** A source with the addresses that its owner passes on. */
export interface SourceWithAddress extends Source {
  readonly intakeUrl: string
  readonly intakePath: string
  readonly rowsUrl: string | null
  readonly baseUrlKnown: boolean
}

const { id, name, table, ...others } = readable

/** With its intake address. */
export const sourceWithAddressShape = Shape.named(
  "SourceWithAddress",
  Shape.object<SourceWithAddress>("A source with its intake address.", {
    id,
    name,
    intakeUrl: Shape.text("The intake address. Anyone who has it may send."),
    intakePath: Shape.text("Its path."),
    table,
    rowsUrl: Shape.orNull(Shape.text("Where its rows are read.")),
    baseUrlKnown: Shape.flag("False if the address's host is a guess."),
    ...others,
    ...owned,
  }),
)

/** The path of a source's intake address, which contains its secret. */
export const intakePath = (source: SourceWithSecret): string => `/webhook/${source.intakeSecret}`

/** The source with its addresses below the base address. */
export const withAddress = (source: SourceWithSecret, { url, known }: BaseUrl): SourceWithAddress => {
  const path = intakePath(source)
  const { table: of } = source
  return {
    ...source,
    intakeUrl: `${url}${path}`,
    intakePath: path,
    rowsUrl: of === null ? null : `${url}/api/v1/tables/${of.schema}/${of.name}/rows`,
    baseUrlKnown: known,
  }
}
