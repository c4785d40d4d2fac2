/** The cabinet's time zone, in which the days of a period begin and end. */
import { Context } from "effect"

/** A time zone name known to PostgreSQL, such as `Europe/Berlin`; read when `SelectRows` is built. */
export const CabinetTimeZone = Context.Reference<string>("@data-cabinet/core/selection/CabinetTimeZone", {
  defaultValue: () => "UTC",
})
