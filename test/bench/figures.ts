/** All figures, in the order of the table. */
import type { Figure } from "./figure.ts"
import { arrival } from "./figure/arrival.ts"
import { consoleCost } from "./figure/console.ts"
import { contains } from "./figure/contains.ts"
import { deliveries } from "./figure/deliveries.ts"
import { deliveriesOrdered } from "./figure/deliveriesOrdered.ts"
import { deliveriesList } from "./figure/deliveriesList.ts"
import { exports } from "./figure/exports.ts"
import { feed } from "./figure/feed.ts"
import { filters } from "./figure/filters.ts"
import { intakeBatch } from "./figure/intakeBatch.ts"
import { intakeForms } from "./figure/intakeForms.ts"
import { intakeJson } from "./figure/intakeJson.ts"
import { memory } from "./figure/memory.ts"
import { pictures } from "./figure/pictures.ts"
import { rows, rowsShort } from "./figure/rows.ts"
import { rowsBeside } from "./figure/rowsBeside.ts"
import { rowsDepth } from "./figure/rowsDepth.ts"
import { rowsWide } from "./figure/rowsWide.ts"
import { search } from "./figure/search.ts"
import { start } from "./figure/start.ts"
import { stored } from "./figure/stored.ts"
import { verified } from "./figure/verified.ts"

export const FIGURES: ReadonlyArray<Figure> = [
  intakeJson,
  intakeBatch,
  intakeForms,
  verified,
  filters,
  rows,
  rowsShort,
  rowsDepth,
  rowsBeside,
  rowsWide,
  contains,
  search,
  consoleCost,
  pictures,
  exports,
  feed,
  deliveries,
  deliveriesOrdered,
  deliveriesList,
  arrival,
  stored,
  memory,
  start,
]
