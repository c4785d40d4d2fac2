/** The cabinet's time zone: where the days of a period begin and end. */
import { Context } from "effect"

/** A name that PostgreSQL knows, such as `Europe/Berlin`; read when `SelectRows` is built. */
export const CabinetTimeZone = Context.Reference<string>("@data-cabinet/core/selection/CabinetTimeZone", {
  defaultValue: () => "UTC",
})
