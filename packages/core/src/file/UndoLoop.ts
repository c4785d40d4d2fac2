/** Continues the undo of imports, in every serving process: one that a lost process began goes on by itself. */
import { Effect, Layer } from "effect"
import { background } from "../runtime/Background.ts"
import { Imports } from "./Imports.ts"

export const layer = Layer.effectDiscard(
  Effect.flatMap(Imports, ({ continueAll }) => background("import undo", "2 seconds", continueAll)),
)
