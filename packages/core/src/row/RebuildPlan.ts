/**
 * Decides what a rebuilt table is like, from what the old one consists of. A column that an operator retyped is moved as
 * it is, unless its type is requested again: only exact spellings become its type when it is made from the events.
 *
 * Decision: docs/decisions/0094-tables-are-rebuilt-beside-the-old-one.md
 */
import { Result } from "effect"
import { counted } from "../text/Counted.ts"
import { columnsIn } from "./DropColumn.ts"
import { readableName } from "./ReadableName.ts"
import { RebuildError } from "./RebuildError.ts"
import type { RebuildFacts, RebuildPlan, RebuildPreview, RebuildWishes, RebuiltColumn } from "./RebuildStore.ts"
import { MAX_FIELD_COLUMNS, MORE_COLUMN, type TableLayout } from "./RowPlan.ts"

const refuse = (code: RebuildError["code"], message: string) => Result.fail(new RebuildError({ code, message }))

/** Columns, and those of the old ones that the new table lacks. */
interface ColumnChoice {
  readonly columns: ReadonlyArray<RebuiltColumn>
  readonly hasMore: boolean
  readonly dropped: ReadonlyArray<string>
}

/** The names that the facts or the wishes still need. */
const neededOf = ({ described, views, indexes, savedViews }: RebuildFacts, { columns }: RebuildWishes) =>
  new Set([
    ...described,
    ...views.flatMap((view) => view.columns),
    ...indexes.filter(({ made }) => made !== "search").flatMap((index) => index.columns),
    ...savedViews.flatMap(({ query }) => [...columnsIn(query)]),
    ...columns.map(({ column }) => column),
  ])

/**
 * A field's first column decides where its values go, so it stays while the field has another column. A field whose type
 * is chosen keeps no other column: the events create those that they need.
 */
const keptOf = (facts: RebuildFacts, wishes: RebuildWishes, layout: TableLayout) => {
  const needed = neededOf(facts, wishes)
  const retyped = new Set<string>()
  for (const { column, type } of wishes.columns) {
    const found = layout.columns.find(({ name }) => name === column)
    if (found !== undefined && type !== undefined && type !== found.kind) retyped.add(found.field)
  }
  const isJunk = (name: string) => wishes.withoutEmpty && facts.empty.has(name) && !needed.has(name)
  return layout.columns.filter(({ field, name }) => {
    const own = layout.of(field)
    if (name !== own[0]!.name) return needed.has(name) || (!retyped.has(field) && !isJunk(name))
    return !own.every((each) => isJunk(each.name))
  })
}

const choose = (
  facts: RebuildFacts,
  wishes: RebuildWishes,
  layout: TableLayout,
): Result.Result<ColumnChoice, RebuildError> => {
  const kept = keptOf(facts, wishes, layout)
  const wished = new Map(wishes.columns.map((wish) => [wish.column, wish]))
  const rank = new Map([...wished.keys()].map((name, index) => [name, index]))
  const ordered = kept.toSorted(
    (a, b) => (rank.get(a.name) ?? Number.POSITIVE_INFINITY) - (rank.get(b.name) ?? Number.POSITIVE_INFINITY) || 0,
  )
  const ofField = new Map<string, string>()
  for (const { field, name } of ordered) {
    const first = ofField.get(field)
    if (first === undefined) ofField.set(field, name)
    if (first === undefined && name !== layout.of(field)[0]!.name && kept.includes(layout.of(field)[0]!)) {
      const message = `Column "${name}" has the values that "${layout.of(field)[0]!.name}" cannot hold, so it comes after it.`
      return refuse("bad_columns", message)
    }
  }
  const requested = new Set(
    layout.columns.filter(({ name }) => wished.get(name)?.type !== undefined).map(({ field }) => field),
  )
  const pinned = new Set(layout.columns.filter(({ typePinned }) => typePinned === true).map(({ field }) => field))
  const columns = ordered.map((column): RebuiltColumn => {
    const wish = wished.get(column.name)
    return {
      field: column.field,
      name: wish?.name ?? column.name,
      kind: wish?.type ?? column.kind,
      typePinned: wish?.type !== undefined || column.typePinned === true,
      was: column.name,
      carried: pinned.has(column.field) && !requested.has(column.field),
    }
  })
  const hasMore =
    layout.hasMore && !(wishes.withoutEmpty && facts.empty.has(MORE_COLUMN) && !facts.described.has(MORE_COLUMN))
  const names = new Set(ordered.map(({ name }) => name))
  const dropped = layout.columns.map(({ name }) => name).filter((name) => !names.has(name))
  return Result.succeed({ columns, hasMore, dropped: layout.hasMore && !hasMore ? [...dropped, MORE_COLUMN] : dropped })
}

/** Why the wishes make no sense for the table; undefined if they do. */
const contradiction = (wishes: RebuildWishes, layout: TableLayout, table: string): RebuildError | undefined => {
  const error = (code: RebuildError["code"], message: string) => new RebuildError({ code, message })
  const named = new Set<string>()
  const names = new Set(layout.columns.map(({ name }) => name))
  for (const { column, name, type } of wishes.columns) {
    if (!names.has(column)) {
      const known = [...names].join(", ") || "none yet"
      return error("no_such_column", `Table sources.${table} has no field column "${column}". It has: ${known}.`)
    }
    if (named.has(column)) return error("bad_columns", `Column "${column}" is named twice.`)
    named.add(column)
    const found = layout.columns.find((each) => each.name === column)!
    if (type !== undefined && layout.of(found.field)[0] !== found) {
      const message = `The type of "${column}" is that of the values which "${layout.of(found.field)[0]!.name}" cannot hold: choose the type of that column.`
      return error("bad_columns", message)
    }
    if (name !== undefined && name !== column && readableName(name, new Set(), "") !== name) {
      const message = `"${name}" is no name for a column: use lower-case letters, digits and underscores, at most 63, and begin with a letter.`
      return error("bad_columns", message)
    }
  }
  return undefined
}

/** What stands in the way of moving the table's dependents to these columns. */
const inTheWay = (facts: RebuildFacts, { columns, dropped }: ColumnChoice): ReadonlyArray<string> => {
  const renamed = new Map(columns.filter(({ was, name }) => was !== name).map(({ was, name }) => [was!, name]))
  const lost = new Set([...renamed.keys(), ...dropped])
  const changed = new Set(lost)
  const { layout } = facts.table!
  for (const { was, kind } of columns)
    if (layout.columns.find(({ name }) => name === was)?.kind !== kind) changed.add(was!)
  const using = (all: ReadonlyArray<string>, of: ReadonlySet<string>) => all.filter((name) => of.has(name))
  return [
    ...facts.obstacles,
    ...facts.views.flatMap(({ name, columns: read }) => {
      const [first] = using(read, lost)
      return first === undefined ? [] : [`view ${name} reads column ${first}, which would be renamed`]
    }),
    ...facts.savedViews.flatMap(({ title, query }) => {
      const [first] = using([...columnsIn(query)], lost)
      return first === undefined ? [] : [`the saved view "${title}" uses column ${first}, which would be renamed`]
    }),
    ...facts.indexes.flatMap(({ name, columns: its, made }) => {
      const [first] = made === null ? using(its, changed) : []
      return first === undefined ? [] : [`index ${name} uses column ${first}, which would change`]
    }),
  ]
}

/** The plan, and what prevents it. */
interface Considered {
  readonly plan: RebuildPlan
  readonly obstacles: ReadonlyArray<string>
}

const consider = (
  sourceId: number,
  facts: RebuildFacts,
  wishes: RebuildWishes,
): Result.Result<Considered, RebuildError> => {
  const { table } = facts
  if (table === undefined) return refuse("no_such_source", `Source ${sourceId} does not exist.`)
  if (table.name === null) return refuse("no_table", `Source ${sourceId} has no table: it was dropped.`)
  if (facts.foreignOwner !== null) {
    const message = `The table sources.${table.name} belongs to ${facts.foreignOwner}, and only its owner may replace it.`
    return refuse("no_right", message)
  }
  const { layout } = table
  const wrong = contradiction(wishes, layout, table.name)
  if (wrong !== undefined) return Result.fail(wrong)
  const chosen = choose(facts, wishes, layout)
  if (Result.isFailure(chosen)) return Result.fail(chosen.failure)
  const { columns, hasMore, dropped } = chosen.success
  const names = columns.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return refuse("bad_columns", `Two columns would be named "${twice}".`)
  if (columns.length > MAX_FIELD_COLUMNS)
    return refuse("bad_columns", `A table has at most ${MAX_FIELD_COLUMNS} columns.`)
  const old = new Map(layout.columns.map((column) => [column.name, column]))
  const isSame = ({ was, name, kind }: RebuiltColumn) => was === name && old.get(name)?.kind === kind
  const same = new Set(["_event_id", "_received_at", ...columns.filter(isSame).map(({ name }) => name)])
  if (hasMore) same.add(MORE_COLUMN)
  const isCopied = (index: RebuildFacts["indexes"][number]) => index.columns.every((name) => same.has(name))
  const carriesRows = columns.every(({ was, kind }) => old.get(was!)!.kind === kind)
  const plan: RebuildPlan = {
    columns,
    hasMore,
    dropped,
    nestBrackets: wishes.nestBrackets,
    copied: facts.indexes.filter(isCopied).map(({ name }) => name),
    later: facts.indexes.filter((index) => index.made !== null && !isCopied(index)),
    views: facts.views.map(({ name }) => name),
    typesWere: new Map(layout.columns.map(({ name, kind }) => [name, kind])),
    carriesRows,
  }
  const obstacles = [...inTheWay(facts, chosen.success)]
  if (!carriesRows && facts.withoutEvent > 0) obstacles.push(withoutEvent(facts.withoutEvent))
  return Result.succeed({ plan, obstacles })
}

const withoutEvent = (rows: number) =>
  `${counted(rows, "row has", "rows have")} no event any more, so ${rows === 1 ? "it" : "they"} cannot take another type`

/** Decides about a rebuild: refused if anything stands in its way. */
export const rebuildPlan = (
  sourceId: number,
  facts: RebuildFacts,
  wishes: RebuildWishes,
): Result.Result<RebuildPlan, RebuildError> =>
  Result.flatMap(consider(sourceId, facts, wishes), ({ plan, obstacles }) =>
    obstacles.length === 0
      ? Result.succeed(plan)
      : refuse(
          !plan.carriesRows && facts.withoutEvent > 0 && obstacles.length === 1
            ? "rows_without_event"
            : "objects_depend",
          `Table sources.${facts.table!.name} was not rebuilt, and nothing was changed: ${obstacles.join("; ")}.`,
        ),
  )

/** What a rebuild would do, with everything that stands in its way. */
export const rebuildPreview = (
  sourceId: number,
  facts: RebuildFacts,
  wishes: RebuildWishes,
): Result.Result<RebuildPreview, RebuildError> =>
  Result.map(consider(sourceId, facts, wishes), ({ plan, obstacles }) => {
    const old = new Map(facts.table!.layout.columns.map((column) => [column.name, column]))
    return {
      table: `sources.${facts.table!.name}`,
      rows: facts.rows,
      rowsWithoutEvent: facts.withoutEvent,
      columns: plan.columns.map(({ name, was, kind, carried }) => {
        return { name, was: was!, type: kind, typeWas: old.get(was!)!.kind, carried }
      }),
      dropped: plan.dropped,
      views: plan.views,
      indexes: plan.copied,
      indexesLater: plan.later.map(({ name }) => name),
      inTheWay: obstacles,
    }
  })
