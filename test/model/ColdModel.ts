/**
 * A model of how events move into files and back: two events, two archivers, a reader of the feed, a person who erases the
 * first event, another who needs that event in the database again, and a crash of an archiver or one restore of the
 * database anywhere. A file may be torn when it is written.
 *
 * An event in the database counts before its copy in a file. Nothing is deleted that does not equal the copy. Deletion
 * begins a while after a file is listed, so that a reader with an older list is done or has begun again.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import { keyOf, type Model, type Step } from "./Explorer.ts"
import {
  type Archiver,
  type Bringer,
  type ColdFault,
  type Eraser,
  EVENTS,
  fileOf,
  IDLE,
  isMissing,
  latestWhole,
  MAX_FILES,
  merged,
  NONE,
  OUTDATED,
  type Reader,
  RESTING,
  set,
  START,
  type State,
} from "./ColdState.ts"

function* archiverSteps(state: State, index: number, fault: ColdFault | null): Generator<Step<State>> {
  const name = `archiver ${index}`
  const { phase, read, base, file } = state.archivers[index]!
  const become = (after: Archiver, change: Partial<State> = {}): State => ({
    ...state,
    ...change,
    archivers: state.archivers.with(index, after),
  })
  if (phase === "idle") {
    const before = fileOf(state, state.listed)
    const now = merged(state.rows, before, fault)
    // A file is replaced once a row differs from it.
    const isDue = state.listed < 0 || keyOf(now) !== keyOf(before?.holds ?? NONE)
    if (isDue && state.files.length < MAX_FILES) {
      yield [`${name} reads`, become({ phase: "read", read: now, base: state.listed, file: -1 })]
    }
    return
  }
  yield [`${name} crashes`, become(IDLE)]
  if (phase === "read" && state.files.length < MAX_FILES) {
    for (const torn of [false, true]) {
      const files = [...state.files, { holds: read, torn }]
      yield [
        `${name} writes a ${torn ? "torn " : ""}file`,
        become({ phase: "written", read, base, file: files.length - 1 }, { files }),
      ]
    }
  }
  if (phase === "written") {
    const good = fault === "a file is not read back" || !state.files[file]!.torn
    yield [`${name} reads it back`, become(good ? { phase: "checked", read, base, file } : IDLE)]
  }
  if (phase === "checked") {
    const lists = state.listed === base || fault === "a list that has changed is overwritten"
    const change = lists ? { listed: file, settled: fault === "deletion without a wait" } : {}
    yield [`${name} lists it`, become(IDLE, change)]
  }
}

/** Deletes rows and files. Any process does it, at any time. */
function* deletionSteps(state: State, fault: ColdFault | null): Generator<Step<State>> {
  const { listed, settled, rows, reader, eraser } = state
  if (listed < 0) return
  if (!settled) {
    // A reader with an older list has taken too long, and begins again.
    const isOld = (reader.phase === "listed" || reader.phase === "rows") && reader.list !== listed
    yield ["the wait is over", { ...state, settled: true, reader: isOld ? { ...RESTING, late: reader.late } : reader }]
    return
  }
  const file = fileOf(state, listed)
  for (let event = 0; event < EVENTS; event++) {
    const equals = fault === "rows that differ are deleted" || file?.holds[event] === rows[event]
    const isHeld = event === 0 && eraser.phase === "holds" && fault !== "rows are not held"
    if (file !== null && rows[event] !== "none" && equals && !isHeld) {
      // What another reads now is not what an archiver has read, even if the list is the same.
      const archivers =
        fault === "deletions do not count"
          ? state.archivers
          : state.archivers.map((one) => (one.phase === "idle" ? one : { ...one, base: OUTDATED }))
      yield [`row ${event} is deleted`, { ...state, archivers, rows: set(rows, event, "none") }]
    }
  }
  for (const [index, old] of state.files.entries()) {
    const isUsed = index === listed || state.archivers.some((one) => one.file === index || one.base === index)
    if (old !== null && !isUsed && index < listed) {
      yield [`file ${index} is removed`, { ...state, files: state.files.with(index, null) }]
    }
  }
}

function* eraserSteps(state: State, fault: ColdFault | null): Generator<Step<State>> {
  const { eraser, rows, listed } = state
  const become = (after: Eraser, change: Partial<State> = {}): State => ({ ...state, ...change, eraser: after })
  const isThere = rows[0] !== "none"
  if (eraser.phase === "idle") {
    if (isThere) yield ["the eraser holds the row", become({ ...eraser, phase: "holds" })]
    else {
      const copy = fileOf(state, listed)?.holds[0] ?? "none"
      yield ["the eraser reads the copy", become({ phase: "reads", copy, list: listed })]
    }
  }
  if (eraser.phase === "reads") {
    const isCurrent = eraser.list === listed || fault === "brought back from an older file"
    if (!isCurrent) yield ["the eraser begins again", become(START.eraser)]
    else {
      const brought = isThere ? rows : set(rows, 0, eraser.copy)
      yield ["the eraser brings it back", become({ phase: "holds", copy: "none", list: -1 }, { rows: brought })]
    }
  }
  if (eraser.phase === "holds") {
    const erased = isThere ? set(rows, 0, "erased") : rows
    yield ["the event is erased", become({ phase: "done", copy: "none", list: -1 }, { rows: erased })]
  }
}

function* bringerSteps(state: State, fault: ColdFault | null): Generator<Step<State>> {
  const { bringer, rows, listed } = state
  const become = (after: Bringer, change: Partial<State> = {}): State => ({ ...state, ...change, bringer: after })
  if (bringer.phase === "idle" && rows[0] === "none") {
    const copy = fileOf(state, listed)?.holds[0] ?? "none"
    yield ["the other reads the copy", become({ phase: "reads", copy, list: listed })]
  }
  if (bringer.phase === "reads") {
    const isCurrent = bringer.list === listed || fault === "brought back from an older file"
    const brought = isCurrent && rows[0] === "none" ? set(rows, 0, bringer.copy) : rows
    yield ["the other brings it back", become(START.bringer, { rows: brought })]
  }
}

function* readerSteps(state: State, fault: ColdFault | null): Generator<Step<State>> {
  const { reader, listed, rows } = state
  const become = (after: Reader): State => ({ ...state, reader: after })
  if (reader.phase === "idle") {
    const late = state.eraser.phase === "done"
    yield ["the reader reads the list", become({ ...RESTING, phase: "listed", list: listed, late })]
  }
  if (reader.phase === "listed") yield ["the reader reads the rows", become({ ...reader, phase: "rows", rows })]
  if (reader.phase === "rows") {
    const seen = merged(reader.rows, fileOf(state, reader.list), fault)
    yield ["the reader reads the file", become({ ...reader, phase: "done", seen, rows: NONE, list: -1 })]
  }
  if (reader.phase === "done") yield ["the reader rests", become(RESTING)]
}

function* restoreSteps(state: State): Generator<Step<State>> {
  const { rows, listed, settled, dump, dumps } = state
  if (dumps === 0) yield ["a dump is made", { ...state, dump: { rows, listed, settled }, dumps: 1 }]
  if (dump !== null) {
    // Nobody runs beside a restore.
    const archivers = state.archivers.map(() => IDLE)
    const quiet = { archivers, reader: RESTING, eraser: START.eraser, bringer: START.bringer }
    yield ["the dump is restored", { ...state, ...dump, ...quiet, dump: null }]
  }
}

const brokenBy =
  (fault: ColdFault | null) =>
  (state: State): string | null => {
    const { rows, listed, reader } = state
    const isFound = isMissing(state) && fault !== "a later file is not looked for"
    const all = merged(rows, fileOf(state, isFound ? latestWhole(state) : listed), fault)
    if (all.includes("none")) return "an event is lost"
    if (reader.phase === "done" && reader.seen.includes("none")) return "a reader missed an event"
    if (state.eraser.phase === "done" && all[0] === "sent") return "an erasure is undone"
    if (reader.phase === "done" && reader.late && reader.seen[0] === "sent") return "a reader saw what was erased"
    return null
  }

/** The archivers are alike. */
const canonical = (state: State): State => ({
  ...state,
  archivers: state.archivers.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)),
})

const show = ({ rows, listed, files, archivers, reader, eraser }: State): string =>
  `rows ${rows.join(" ")}; file ${listed} of ${files.map((file) => (file === null ? "removed" : `${file.holds.join("+")}${file.torn ? " torn" : ""}`)).join(", ")}; ${archivers.map(({ phase }) => phase).join(", ")}; reader ${reader.phase}, eraser ${eraser.phase}`

export interface ColdOptions {
  readonly archivers: 1 | 2
  readonly restore: boolean
  readonly reader: boolean
  readonly bringer: boolean
}

/** The protocol, with one planted fault or none. */
export const coldModel = (
  { archivers, restore, reader, bringer }: ColdOptions,
  fault: ColdFault | null = null,
): Model<State> => ({
  initial: { ...START, archivers: START.archivers.slice(0, archivers), dumps: restore ? 0 : 1 },
  steps: function* (state) {
    const each = function* (): Generator<Step<State>> {
      if (isMissing(state)) {
        yield ["a later file is listed", { ...state, listed: latestWhole(state), settled: false }]
        return
      }
      for (let index = 0; index < archivers; index++) yield* archiverSteps(state, index, fault)
      yield* deletionSteps(state, fault)
      yield* eraserSteps(state, fault)
      if (bringer) yield* bringerSteps(state, fault)
      if (reader) yield* readerSteps(state, fault)
      if (restore) yield* restoreSteps(state)
    }
    for (const [name, next] of each()) yield [name, canonical(next)]
  },
  broken: brokenBy(fault),
  // What was sent is in no file that can be read. Files are bounded, so a model in which all were torn ends elsewhere.
  isGoal: ({ files, rows, eraser }) =>
    files.length >= MAX_FILES || (rows.every((version) => version === "none") && eraser.phase === "done"),
  show,
})
