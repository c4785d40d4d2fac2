/** What the audit log says of changes to sources, their events and their imports. */
import type { Erasure } from "../event/Erasure.ts"
import type { Rereading } from "../intake/Rereading.ts"
import type { Trash } from "../event/Trash.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import type { Import } from "../file/Import.ts"
import type { Imports } from "../file/Imports.ts"
import type { SourceChange, Sources } from "../source/Sources.ts"
import type { LateVerification } from "../event/LateVerification.ts"
import type { Act } from "../audit/Managed.ts"
import { type Acts, act, making, some } from "./Acts.ts"

/** The given settings, without secrets. */
const settingsGiven = ({ verify, challenge, proof, ...settings }: SourceChange): Act["changes"] => ({
  ...settings,
  ...(verify === undefined ? {} : { verify: verify === null ? null : withoutSecret(verify) }),
  ...(challenge === undefined ? {} : { challenge: challenge === null ? null : withoutSecret(challenge) }),
  ...(proof === undefined ? {} : { proof: proof === null ? null : provenBy(proof) }),
})

/** The key of `altcha` is drawn, never given. */
const provenBy = ({ kind, siteKey, secret }: NonNullable<SourceChange["proof"]>) =>
  kind === "altcha"
    ? { kind }
    : withoutSecret({
        kind,
        ...(siteKey === undefined ? {} : { site_key: siteKey }),
        ...(secret === undefined ? {} : { secret }),
      })

const withoutSecret = <G extends { readonly secret?: string }>({ secret, ...given }: G) => ({
  ...given,
  secret: secret === undefined ? "kept" : "new",
})

/** An entry for each method of `Sources`. */
export const SOURCES: Acts<Sources["Service"]> = {
  create: (source) => making("source.create", "source", settingsGiven(source)),
  list: null,
  page: null,
  get: null,
  reveal: (id) => act("source.reveal", `source ${id}`),
  change: (id, change) => act("source.change", `source ${id}`, settingsGiven(change)),
  archive: (id) => act("source.archive", `source ${id}`),
  restore: (id) => act("source.restore", `source ${id}`),
  remove: (id, table) => act("source.delete", `source ${id}`, { table }),
  rotateSecret: (id, { keepOldSeconds = null } = {}) =>
    act("source.rotate_secret", `source ${id}`, keepOldSeconds === null ? {} : { keep_old_seconds: keepOldSeconds }),
  bySecret: null,
  cached: null,
  forIntake: null,
}

/** An entry for each method of `Trash`. */
export const TRASH: Acts<Trash["Service"]> = {
  trash: (id, events) => act("event.trash", `source ${id}`, some(events)),
  untrash: (id, events) => act("event.restore", `source ${id}`, some(events)),
  purge: (events) => act("event.purge", null, some(events)),
}

/** An entry for each method of `Inbox`. */
export const INBOX: Acts<Inbox["Service"]> = {
  forms: null,
  page: null,
  find: null,
  open: null,
  earlier: null,
  figures: null,
  mark: (id, events, marks) => act("inbox.mark", `source ${id}`, { ...some(events), ...marks }),
}

/** The values are the data to be erased: only the fields are logged. */
export const ERASURE: Acts<Erasure["Service"]> = {
  find: null,
  erase: ({ filters, sourceId, after }) =>
    act("event.erase", sourceId === null ? null : `source ${sourceId}`, {
      conditions: filters.map(({ fc, fo }) => `${fc} ${fo}`),
      continued: after > 0,
    }),
}

/** An entry for each method of `LateVerification`. */
export const LATE_VERIFICATION: Acts<LateVerification["Service"]> = {
  events: (events, { deliver }) => act("event.verify", null, { ...some(events), deliver }),
  source: ({ sourceId, deliver, cursor }) =>
    act("event.verify", `source ${sourceId}`, { deliver, continued: cursor !== undefined }),
  trySource: null,
}

/** An entry for each method of `Rereading`. */
export const REREADING: Acts<Rereading["Service"]> = {
  events: (events, { encoding, allValues, deliver }) =>
    act("event.reread", null, { ...some(events), encoding, all_values: allValues, deliver }),
  tryEvents: null,
  source: ({ sourceId, encoding, allValues, deliver, cursor }) =>
    act("event.reread", `source ${sourceId}`, {
      encoding,
      all_values: allValues,
      deliver,
      continued: cursor !== undefined,
    }),
  trySource: null,
}

/** An entry for the import of a file. */
export const IMPORTS: Acts<Import["Service"]> = {
  file: (id, file, options) =>
    act("file.import", `source ${id}`, { file: file.name, dry_run: options.dryRun ?? false }),
}

/** An entry for each method of `Imports`. */
export const UNDONE_IMPORTS: Acts<Imports["Service"]> = {
  list: null,
  get: null,
  tryUndo: null,
  cancel: (id) => act("file.cancel", `import ${id}`),
  undo: (id) => act("file.undo", `import ${id}`),
  continueUndo: null,
  continueAll: null,
}
