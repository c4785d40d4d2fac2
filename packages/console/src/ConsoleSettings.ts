/** Facts about the cabinet that the screens need besides its address. */
import { Context } from "effect"

export class ConsoleSettings extends Context.Service<
  ConsoleSettings,
  {
    /** The time zone for display, such as `Europe/Berlin`; exports and copies have times as the API has them. */
    readonly timeZone: string
  }
>()("@data-cabinet/console/ConsoleSettings") {}
