/** The settings that locate the database and its standby. */
import { optional, setting } from "./Setting.ts"
import * as SettingForm from "./SettingForm.ts"

export const DATABASE_SETTINGS = {
  databaseUrl: optional(
    {
      env: "DATABASE_URL",
      flag: "database-url",
      value: "URL",
      about: "A PostgreSQL 15 to 18 of yours; default: the embedded one in the data directory",
    },
    SettingForm.partialAddress,
  ),
  readUrl: optional(
    {
      env: "DATABASE_READ_URL",
      flag: "database-read-url",
      value: "URL",
      about: "A streaming standby that rows are read from; login and database are the primary's",
    },
    SettingForm.partialAddress,
  ),
  databaseCa: optional(
    {
      env: "DATABASE_CA",
      flag: "database-ca",
      value: "FILE",
      about: "Certificates (PEM) of the authority that signs for the database's server; addresses may name sslrootcert",
    },
    SettingForm.text,
  ),
  readLag: setting(
    {
      env: "CABINET_READ_LAG",
      flag: "read-lag",
      value: "TIME",
      about: "How far behind the standby may be; while it is farther, rows are read from the primary",
    },
    SettingForm.duration,
    "5s",
  ),
  readerUrl: optional(
    {
      env: "DATABASE_READER_URL",
      flag: "database-reader-url",
      value: "URL",
      about: "Login of a reader role, where DATABASE_URL's user may not make roles",
    },
    SettingForm.databaseLogin,
  ),
  authorUrl: optional(
    {
      env: "DATABASE_AUTHOR_URL",
      flag: "database-author-url",
      value: "URL",
      about: "Login of an author role, where DATABASE_URL's user may not make roles",
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
      about:
        "The programs of this machine's PostgreSQL 15 to 18, to run instead of the shipped one; default: the shipped one",
    },
    SettingForm.text,
  ),
} as const
