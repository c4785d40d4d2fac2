/** The whole command, with everything below it. */
import { Command } from "effect/cli"
import { addressCommand } from "./AddressCommand.ts"
import { benchCommand } from "./BenchCommand.ts"
import { backupCommand, restoreCommand } from "./BackupCommand.ts"
import { cabinetsCommand } from "./CabinetsCommand.ts"
import { columnCommand } from "./ColumnCommand.ts"
import { doctorCommand } from "./DoctorCommand.ts"
import { eventCommand } from "./EventCommand.ts"
import { eventsCommand } from "./EventsCommand.ts"
import { exposeCommand, hideCommand } from "./ExposeCommand.ts"
import { importCommand } from "./ImportCommand.ts"
import { keyCommand } from "./KeyCommand.ts"
import { migrateCommand } from "./MigrateCommand.ts"
import { operatorCommand } from "./OperatorCommand.ts"
import { pollCommand } from "./PollCommand.ts"
import { root } from "./Root.ts"
import { rowsCommand } from "./RowsCommand.ts"
import { serveCommand, workCommand } from "./ServeCommand.ts"
import { searchIndexCommand } from "./SearchIndexCommand.ts"
import { sourceCommand } from "./SourceCommand.ts"
import { sqlCommand } from "./SqlCommand.ts"
import { purgeCommand, trashCommand, untrashCommand } from "./TrashCommand.ts"

export const cabinet = root.pipe(
  Command.withSubcommands([
    serveCommand,
    workCommand,
    migrateCommand,
    sourceCommand,
    keyCommand,
    addressCommand,
    importCommand,
    pollCommand,
    operatorCommand,
    eventsCommand,
    rowsCommand,
    eventCommand,
    trashCommand,
    untrashCommand,
    purgeCommand,
    columnCommand,
    searchIndexCommand,
    sqlCommand,
    exposeCommand,
    hideCommand,
    cabinetsCommand,
    backupCommand,
    restoreCommand,
    doctorCommand,
    benchCommand,
  ]),
)
