/** The settings that locate the database and its standby. */
import * as SettingForm from "./SettingForm.ts"
import { optional, setting } from "./SettingForm.ts"

export const DATABASE_SETTINGS = {
  databaseUrl: optional(
    {
      env: "DATABASE_URL",
      flag: "database-url",
      value: "URL",
      about: "Your own PostgreSQL (15 to 18); default: the embedded one in the data directory",
    },
    SettingForm.partialDatabaseUrl,
  ),
  readUrl: optional(
    {
      env: "DATABASE_READ_URL",
      flag: "database-read-url",
      value: "URL",
      about: "Streaming standby to read rows from; login and database are the primary's",
    },
    SettingForm.partialDatabaseUrl,
  ),
  databaseCa: optional(
    {
      env: "DATABASE_CA",
      flag: "database-ca",
      value: "FILE",
      about: "CA certificates (PEM) to verify the database server with; a URL may name its own as sslrootcert",
    },
    SettingForm.text,
  ),
  readLag: setting(
    {
      env: "CABINET_READ_LAG",
      flag: "read-lag",
      value: "TIME",
      about: "Maximum lag of the standby; beyond it, rows are read from the primary",
    },
    SettingForm.duration,
    "5s",
  ),
  readerUrl: optional(
    {
      env: "DATABASE_READER_URL",
      flag: "database-reader-url",
      value: "URL",
      about: "Login of the reader role, if the user of DATABASE_URL cannot create roles",
    },
    SettingForm.databaseLogin,
  ),
  authorUrl: optional(
    {
      env: "DATABASE_AUTHOR_URL",
      flag: "database-author-url",
      value: "URL",
      about: "Login of the author role, if the user of DATABASE_URL cannot create roles",
    },
    SettingForm.databaseLogin,
  ),
  dataDir: setting(
    { env: "CABINET_DATA_DIR", flag: "data-dir", value: "DIR", about: "Where the embedded PostgreSQL keeps its data" },
    SettingForm.text,
    ".cabinet",
  ),
  postgresBin: optional(
    {
      env: "CABINET_POSTGRES_BIN",
      flag: "postgres-bin",
      value: "DIR",
      about: "Directory with the programs of an installed PostgreSQL (15 to 18) to run; default: the bundled one",
    },
    SettingForm.text,
  ),
  postgresPort: optional(
    {
      env: "CABINET_POSTGRES_PORT",
      flag: "postgres-port",
      value: "N",
      about: "Port of this machine on which the embedded PostgreSQL is read for reports; default: none",
    },
    SettingForm.wholeNumber(1024, 65_535),
  ),
} as const
