/** Measures V8's heap between two full collections: what minor collections free, and what they promote. */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const gc = runInNewContext("gc") as (options: { readonly type: "minor" }) => void

export const collectYoung = (): void => gc({ type: "minor" })

/** After three collections, everything that is still referenced is in the old generation. */
export const growOld = (): void => {
  for (let n = 0; n < 3; n++) collectYoung()
}

export const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_used_size
