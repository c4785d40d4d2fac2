/** One or two calls of each command that a newcomer can copy; `--help` shows them. */

interface Example {
  readonly command: string
  readonly description: string
}

const example = (command: string, description: string): Example => ({ command: `cabinet ${command}`, description })

export const EXAMPLES = {
  cabinet: [
    example("serve", "Start the server; the first start prints an intake address and a key"),
    example("source add Orders", "Create a source, and print its intake address"),
    example("rows sources.orders", "Read the rows of its table"),
  ],
  source: [
    example("source add Orders", "Create a source, and print its intake address"),
    example("source add Code --from github", "Receive GitHub's webhooks, with the headers that say what happened"),
  ],
  key: [
    example("key add Reports --expires 90d", "Issue a key that is valid for 90 days"),
    example("key rotate Reports --keep-old 24h", "Replace it; the old key stays valid for a day"),
  ],
  token: [example("token add CI --role uploader", "Issue a token that may upload files")],
  person: [example("person add Ada --role editor", "Add a person, and print their one-time link")],
  import: [
    example("import Orders orders.csv --dry-run", "Show how a file would be read"),
    example("import undo 3", "Undo an import, after counting what would be removed"),
  ],
  poll: [example("poll add Orders https://example.com/orders.json --every 15m", "Turn new items into events")],
  event: [
    example("event list --tail 10", "Show the ten newest events"),
    example("event show 41", "Show an event with its request, row and deliveries"),
  ],
  inbox: [
    example("inbox list Contact --mark open", "List the messages of a form that are still to be answered"),
    example("inbox done Contact 41", "Mark a message as done"),
  ],
  table: [
    example("table show sources.orders", "Show the columns of a table"),
    example("table rebuild Orders --types orders.json --dry-run", "Show how a table with other types would look"),
  ],
  column: [
    example("table column Orders", "List the columns of a source's table"),
    example("table column Orders total --type numeric --dry-run", "Show what a column of numbers would change"),
  ],
  schema: [
    example("schema add reports", "Create a schema for tables and views of cabinet sql"),
    example("schema expose shop", "Let the API read the tables of the schema shop"),
  ],
  database: [example("database url", "Print the URL of a read-only login")],
  address: [
    example("address add https://example.com/hook --source Orders", "Deliver the new events of a source"),
    example("address log 1 --failed", "Show the failed attempts of an address"),
  ],
  delivery: [
    example("delivery list --retrying", "List what failed and waits for another attempt"),
    example("delivery resend 7", "Send a delivery again"),
    example("delivery resend --where --outcome refused --since 2h --dry-run", "Count what a receiver refused lately"),
  ],
  destination: [
    example("destination add events --format parquet", "Write all events as Parquet into a directory below the root"),
    example(
      "destination add s3://events/orders --source Orders --endpoint https://s3.example.com --credentials-file s3.env",
      "Write the events of a source into a bucket",
    ),
    example(
      "destination add nats://EVENTS/cabinet --endpoint tls://nats.example.com --credentials-file cabinet.creds",
      "Publish all events to a stream of NATS",
    ),
    example("destination list", "Show how far each destination has come"),
  ],
  tenant: [example("tenant add acme", "Add a cabinet to a multi-tenant server")],
  follower: [
    example("follower list", "Show how far each follower of the feed is behind"),
    example("follower reset warehouse --to beginning", "Let a client read the feed again from its first event"),
  ],
  notices: [example("notices on", "Create the source of notices")],
  rows: [
    example('rows sources.orders --where "total>=10" --sort total --desc', "Read rows by a condition, largest first"),
  ],
  export: [example("export sources.orders --to orders.csv", "Write all rows of a table to a file")],
  apply: [
    example("apply cabinet.yaml --dry-run", "Show what would change"),
    example("apply cabinet.yaml --prune", "Apply it, and remove what it does not name"),
  ],
  "export-config": [example("export-config --to cabinet.yaml", "Write the cabinet as a file")],
  sql: [example('sql -c "SELECT count(*) FROM sources.orders"', "Run one statement")],
  listen: [
    example(
      "listen Orders --forward-to http://localhost:3000/hook",
      "Post new events to a program that you are writing",
    ),
  ],
} as const satisfies Readonly<Record<string, ReadonlyArray<Example>>>
