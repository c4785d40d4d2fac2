/** Interprets refusals of senders, and what their requests reveal about the settings. */
import { counted } from "../text/Counted.ts"
import { droppedFields } from "./KnownSender.ts"
import type { RefusalReason } from "../verification/VerifySender.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

const REFUSED: Readonly<Record<RefusalReason, string>> = {
  no_signature: "without a signature",
  bad_signature: "whose signature does not match",
  old_timestamp: "whose signature is too old or from a clock that is ahead",
}

const ofSignatures = ({ refusedSignatures: refused }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (refused.length === 0) return []
  const each = refused.map(
    ({ sourceId, name, recipe, reason, count, since, lastAt }) =>
      `${counted(count, "request", "requests")} to source ${sourceId} (${name}, ${recipe}) ${REFUSED[reason]}, from ${since} to ${lastAt}`,
  )
  const message = `Senders could not be verified, and their requests were refused: ${each.join("; ")}. If they are genuine, the source's secret is not the sender's: set it with \`cabinet source set ${refused[0]!.sourceId} --verify-secret-file FILE\`.`
  return [finding("signatures", "warn", message)]
}

const ofDroppedHeaders = ({ droppedHeaders: dropped }: DiagnosticsReport): ReadonlyArray<Finding> =>
  dropped.map(({ sourceId, name, provider }) =>
    finding("sender", "warn", `Source ${sourceId} (${name}) receives events from ${droppedFields(sourceId, provider)}`),
  )

const ofUnreadable = ({ unreadable }: DiagnosticsReport): ReadonlyArray<Finding> =>
  unreadable.map(({ sourceId, name, unclear, events, eventId, rereadable }) => {
    const problem = unclear
      ? "texts whose charset is only a guess (`unclear`)"
      : "characters that could not be read, now U+FFFD,"
    const found = `Source ${sourceId} (${name}) has ${problem} in ${events} of its latest events, the last of them event ${eventId}.`
    const remedy = rereadable
      ? `\`cabinet event reread --source ${sourceId} --encoding CHARSET --dry-run\` shows what another charset would correct; \`cabinet source set ${sourceId} --encoding\` sets it for new events.`
      : `\`cabinet event show ${eventId}\` shows how it was read. If it came from a file, \`cabinet import undo\` undoes the import, and \`cabinet import --encoding\` reads the file in another charset.`
    return finding("characters", "warn", `${found} ${remedy}`)
  })

const ofLimited = ({ limitedRequests: limited }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (limited.length === 0) return []
  const each = limited.map(
    ({ sourceId, name, count, since, lastAt }) =>
      `${counted(count, "request", "requests")} to source ${sourceId} (${name}), from ${since} to ${lastAt}`,
  )
  const message = `Requests were refused with 429, because they exceeded the rate limit: ${each.join("; ")}. Most senders retry. CABINET_INTAKE_RATE is the limit per minute of each source and of each client address; \`cabinet source set ${limited[0]!.sourceId} --rate N\` gives a source its own.`
  return [finding("rates", "warn", message)]
}

const ofSoleClient = ({ soleClient: sole }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (sole === null) return []
  const message = `The last ${sole.requests} requests to intake all came from ${sole.address}, although ${sole.programs} different programs sent them. If that is the address of a proxy, set CABINET_TRUSTED_PROXIES to it: until then all clients share one rate and one limit of wrong credentials, and events do not have their sender's address.`
  return [finding("clients", "warn", message)]
}

/** The URL that a server without a base URL records: the address on which it listens. */
const LISTENING = /^https?:\/\/(?:localhost|127\.[0-9.]+|\[::1\])(?::|$)/

const ofSignedAddresses = ({ signedAddresses: signed, baseUrl }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (signed.length === 0 || (baseUrl !== null && !LISTENING.test(baseUrl))) return []
  const each = signed.map(({ sourceId, name, recipe }) => `source ${sourceId} (${name}, ${recipe})`)
  const known =
    baseUrl === null
      ? "no server has been given the base URL"
      : `the base URL is ${baseUrl}, where only this machine is`
  const message = `Some senders sign the public address with their requests: those of ${each.join(", ")}. Here ${known}, so their requests signed for another address are refused. Set BASE_URL to the beginning of the address that they use.`
  return [finding("base URL", "warn", message)]
}

/** All findings, in the order of display. */
export const senderFindings = (diagnostics: DiagnosticsReport): ReadonlyArray<Finding> => [
  ...ofSignatures(diagnostics),
  ...ofLimited(diagnostics),
  ...ofDroppedHeaders(diagnostics),
  ...ofUnreadable(diagnostics),
  ...ofSoleClient(diagnostics),
  ...ofSignedAddresses(diagnostics),
]
