/** The whole command, with all its subcommands. */
import { Command } from "effect/cli"
import { addressCommand } from "./AddressCommand.ts"
import { applyCommand, exportConfigCommand } from "./ApplyCommand.ts"
import { auditCommand } from "./AuditCommand.ts"
import { backupCommand, restoreCommand } from "./BackupCommand.ts"
import { benchCommand } from "./BenchCommand.ts"
import { consoleCommand } from "./ConsoleCommand.ts"
import { databaseCommand } from "./DatabaseCommand.ts"
import { deliveryCommand } from "./DeliveryCommand.ts"
import { destinationCommand } from "./DestinationCommand.ts"
import { doctorCommand } from "./DoctorCommand.ts"
import { EXAMPLES } from "./Examples.ts"
import { eventCommand } from "./EventCommand.ts"
import { exportCommand } from "./ExportCommand.ts"
import { coldCommand } from "./ColdCommand.ts"
import { followerCommand } from "./FollowerCommand.ts"
import { inboxCommand } from "./InboxCommand.ts"
import { importCommand } from "./ImportCommand.ts"
import { keyCommand } from "./KeyCommand.ts"
import { mcpCommand } from "./McpCommand.ts"
import { listenCommand } from "./ListenCommand.ts"
import { migrateCommand } from "./MigrateCommand.ts"
import { noticesCommand } from "./NoticesCommand.ts"
import { overviewCommand } from "./OverviewCommand.ts"
import { personCommand } from "./PersonCommand.ts"
import { pollCommand } from "./PollCommand.ts"
import { root } from "./Root.ts"
import { rowsCommand } from "./RowsCommand.ts"
import { schemaCommand } from "./SchemaCommand.ts"
import { serveCommand, workerCommand } from "./ServeCommand.ts"
import { sourceCommand } from "./SourceCommand.ts"
import { asyncApiCommand, typesCommand } from "./ShapeCommands.ts"
import { sqlCommand } from "./SqlCommand.ts"
import { tableCommand } from "./TableCommand.ts"
import { tenantCommand } from "./TenantCommand.ts"
import { tokenCommand } from "./TokenCommand.ts"

export const cabinet = root.pipe(
  Command.withSubcommands([
    serveCommand,
    workerCommand,
    sourceCommand,
    typesCommand,
    asyncApiCommand,
    keyCommand,
    tokenCommand,
    consoleCommand,
    personCommand,
    importCommand,
    pollCommand,
    eventCommand,
    inboxCommand,
    rowsCommand,
    exportCommand,
    tableCommand,
    schemaCommand,
    databaseCommand,
    mcpCommand,
    sqlCommand,
    addressCommand,
    deliveryCommand,
    destinationCommand,
    listenCommand,
    tenantCommand,
    migrateCommand,
    applyCommand,
    exportConfigCommand,
    backupCommand,
    restoreCommand,
    doctorCommand,
    overviewCommand,
    followerCommand,
    coldCommand,
    noticesCommand,
    auditCommand,
  ]),
  Command.withExamples(EXAMPLES.cabinet),
)

/** `cabinet bench`, which no help shows: in a clone it is `npm run bench`. */
export const bench = root.pipe(Command.withSubcommands([benchCommand]))
