/** Facts about the cabinet that the screens need besides its address. */
import { Context } from "effect"

export class ConsoleSettings extends Context.Service<
  ConsoleSettings,
  {
    /** The zone in which times are shown, such as `Europe/Berlin`; an export and a copy have them as the API does. */
    readonly timeZone: string
  }
>()("@data-cabinet/console/ConsoleSettings") {}
