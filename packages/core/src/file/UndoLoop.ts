/** Continues undos of imports in every serving process, so that an undo continues after its process is lost. */
import { Effect, Layer } from "effect"
import { background } from "../runtime/Background.ts"
import { Imports } from "./Imports.ts"

export const layer = Layer.effectDiscard(
  Effect.flatMap(Imports, ({ continueAll }) => background("import undo", "2 seconds", continueAll)),
)
