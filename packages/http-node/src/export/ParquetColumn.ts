/**
 * The values of a column while its group of rows is filled, as bytes: separate values would live as long as the group,
 * and V8 would copy them from one space to another. They become values when the column is written, one column after
 * another.
 */

/** A value as written. */
export type Stored = string | number | bigint | boolean | Uint8Array

/** The form in which a column stores its values; "values" keeps each unchanged. */
export type Held = "texts" | "numbers" | "integers" | "booleans" | "values"

export interface ParquetColumn {
  readonly push: (value: Stored | null) => void
  /**
   * All values, copied for each caller. Bytes among them may belong to the column, which overwrites them after
   * `clear`.
   */
  readonly values: () => Array<Stored | null> | Float64Array | BigInt64Array
  readonly clear: () => void
}

const START_LENGTH = 1_024

/** A longer buffer is released once its group is written. */
const MAX_KEPT_BYTES = 8 * 1_048_576

/** Where a column's NULLs are. */
class Nulls {
  #flags = new Uint8Array(START_LENGTH)
  length = 0
  any = false

  push(isNull: boolean): void {
    if (this.length === this.#flags.length) {
      const flags = new Uint8Array(this.length * 2)
      flags.set(this.#flags)
      this.#flags = flags
    }
    this.#flags[this.length++] = isNull ? 1 : 0
    if (isNull) this.any = true
  }

  at(index: number): boolean {
    return this.#flags[index] === 1
  }

  clear(): void {
    this.length = 0
    this.any = false
  }
}

const listOf = (nulls: Nulls, value: (index: number) => Stored): Array<Stored | null> => {
  const list: Array<Stored | null> = []
  for (let index = 0; index < nulls.length; index++) list.push(nulls.at(index) ? null : value(index))
  return list
}

const numbers = (): ParquetColumn => {
  const nulls = new Nulls()
  let held = new Float64Array(START_LENGTH)
  return {
    push: (value) => {
      if (nulls.length === held.length) {
        const longer = new Float64Array(held.length * 2)
        longer.set(held)
        held = longer
      }
      held[nulls.length] = Number(value)
      nulls.push(value === null)
    },
    values: () => (nulls.any ? listOf(nulls, (index) => held[index]!) : held.subarray(0, nulls.length)),
    clear: () => nulls.clear(),
  }
}

const integers = (): ParquetColumn => {
  const nulls = new Nulls()
  let held = new BigInt64Array(START_LENGTH)
  return {
    push: (value) => {
      if (nulls.length === held.length) {
        const longer = new BigInt64Array(held.length * 2)
        longer.set(held)
        held = longer
      }
      held[nulls.length] = typeof value === "bigint" ? value : 0n
      nulls.push(value === null)
    },
    values: () => (nulls.any ? listOf(nulls, (index) => held[index]!) : held.subarray(0, nulls.length)),
    clear: () => nulls.clear(),
  }
}

const booleans = (): ParquetColumn => {
  const nulls = new Nulls()
  const held = numbers()
  return {
    push: (value) => {
      held.push(value === true ? 1 : 0)
      nulls.push(value === null)
    },
    values: () => {
      const bits = held.values()
      return listOf(nulls, (index) => bits[index] === 1)
    },
    clear: () => {
      held.clear()
      nulls.clear()
    },
  }
}

const texts = (): ParquetColumn => {
  const nulls = new Nulls()
  const ends = numbers()
  let bytes = Buffer.allocUnsafeSlow(START_LENGTH)
  let end = 0
  const take = (text: string): void => {
    // A UTF-16 code unit is at most three bytes.
    if (text.length * 3 > bytes.length - end) {
      const needed = end + Buffer.byteLength(text)
      if (needed > bytes.length) {
        const longer = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, needed))
        bytes.copy(longer, 0, 0, end)
        bytes = longer
      }
    }
    end += bytes.write(text, end)
  }
  return {
    push: (value) => {
      if (typeof value === "string") take(value)
      ends.push(end)
      nulls.push(value === null)
    },
    values: () => {
      const until = ends.values() as Float64Array
      return listOf(nulls, (index) => {
        const from = index === 0 ? 0 : until[index - 1]!
        return new Uint8Array(bytes.buffer, from, until[index]! - from)
      })
    },
    clear: () => {
      nulls.clear()
      ends.clear()
      end = 0
      if (bytes.length > MAX_KEPT_BYTES) bytes = Buffer.allocUnsafeSlow(START_LENGTH)
    },
  }
}

const values = (): ParquetColumn => {
  let held: Array<Stored | null> = []
  return {
    push: (value) => held.push(value),
    values: () => held,
    clear: () => {
      held = []
    },
  }
}

const COLUMNS: Readonly<Record<Held, () => ParquetColumn>> = { texts, numbers, integers, booleans, values }

export const parquetColumn = (held: Held): ParquetColumn => COLUMNS[held]()
