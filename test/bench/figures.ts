/** All figures, in the order of the table. */
import type { Figure } from "./figure.ts"
import { intakeBatch } from "./figure/intakeBatch.ts"
import { intakeForms } from "./figure/intakeForms.ts"
import { intakeJson } from "./figure/intakeJson.ts"
import { deliveries } from "./figure/deliveries.ts"
import { feed } from "./figure/feed.ts"
import { rowsDepth } from "./figure/rowsDepth.ts"
import { rows } from "./figure/rows.ts"

export const FIGURES: ReadonlyArray<Figure> = [intakeJson, intakeBatch, intakeForms, rows, rowsDepth, feed, deliveries]
