/**
 * Shapes as they are stored, as JSON. Members are lists of pairs, because an object would move names like `7` to its front,
 * and would lose `__proto__`.
 */
import { emptyShape, type Field, type Kind, KINDS, nameMember, newField, type PayloadShape } from "./PayloadShape.ts"

/** The index of the kind, its count, and its first and last time. */
type StoredKind = readonly [kind: number, count: number, firstAt: number, lastAt: number]

interface StoredField {
  readonly k: ReadonlyArray<StoredKind>
  readonly n?: ReadonlyArray<readonly [name: string, field: StoredField]>
  readonly r?: StoredField
  readonly i?: StoredField
  readonly open?: true
  readonly long?: true
}

const stored = ({ kinds, names, rest, items, open, long }: Field): StoredField => ({
  k: [...kinds].map(([kind, { count, firstAt, lastAt }]) => [KINDS.indexOf(kind), count, firstAt, lastAt]),
  ...(names.size === 0 ? {} : { n: [...names].map(([name, { field }]) => [name, stored(field)] as const) }),
  ...(rest === null ? {} : { r: stored(rest) }),
  ...(items === null ? {} : { i: stored(items) }),
  ...(open ? { open } : {}),
  ...(long ? { long } : {}),
})

const fieldOf = ({ k, n = [], r, i, open, long }: StoredField, shape: PayloadShape): Field => {
  const inner = (field: StoredField): Field => {
    shape.fields++
    return fieldOf(field, shape)
  }
  const field: Field = {
    ...newField(),
    kinds: new Map(k.map(([kind, count, firstAt, lastAt]) => [KINDS[kind] as Kind, { count, firstAt, lastAt }])),
    rest: r === undefined ? null : inner(r),
    items: i === undefined ? null : inner(i),
    open: open === true,
    long: long === true,
  }
  for (const [name, member] of n) nameMember(field, name, inner(member))
  return field
}

export const shapeText = ({ root }: PayloadShape): string => JSON.stringify(stored(root))

/** The shape that `shapeText` wrote. */
export const shapeOfText = (text: string): PayloadShape => {
  const shape = emptyShape()
  return { root: fieldOf(JSON.parse(text) as StoredField, shape), fields: shape.fields }
}
