/** All figures, in the order of the table. */
import type { Figure } from "./figure.ts"
import { intakeJson } from "./figure/intakeJson.ts"

export const FIGURES: ReadonlyArray<Figure> = [intakeJson]
