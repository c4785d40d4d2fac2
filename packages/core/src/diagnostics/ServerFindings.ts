/** Interprets the connection to the database server, its programs, and the rights that it grants to every role. */
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

/** How the database is reached. */
export interface SeenConnection {
  readonly transport: "socket" | "tls" | "clear text"
  readonly verified: "name" | "authority" | "no"
  readonly isLoopback: boolean
  readonly server: string
}

/** The shipped PostgreSQL. */
export interface SeenShipped {
  readonly major: number
  /** Installations on this machine that could replace it, newest first. */
  readonly others: ReadonlyArray<{ readonly bin: string; readonly major: number }>
}

/** Rights that PostgreSQL grants to every role, and rights that an author could keep. */
export const ofNeighbours = ({
  database,
  isOpenToAll,
  authorStays,
  locksForAll,
}: DiagnosticsReport): ReadonlyArray<Finding> => [
  isOpenToAll
    ? finding(
        "neighbours",
        "warn",
        `Every role of the server can connect to the database. Have its owner run the following, and grant CONNECT to the roles that need it: REVOKE ALL ON DATABASE "${database}" FROM PUBLIC;`,
      )
    : finding("neighbours", "ok", "Only roles with an explicit grant can connect to the database."),
  ...(authorStays
    ? [
        finding(
          "password",
          "warn",
          "The author role's password never expires, and a script may have set it. If the user of DATABASE_URL may alter the role (CREATEROLE), the cabinet lets the password expire after a minute.",
        ),
      ]
    : []),
  finding(
    "locks",
    "ok",
    locksForAll
      ? "Every role connected to the database can take advisory locks without limit. Only a superuser can revoke this privilege (see docs/operations.md)."
      : "Only roles with an explicit grant can take advisory locks.",
  ),
]

/** Whether a third party could read or change the traffic. */
export const ofConnection = ({ transport, verified, isLoopback, server }: SeenConnection): Finding => {
  if (transport === "socket")
    return finding("connection", "ok", `The database is reached through a socket on this machine, in ${server}.`)
  if (transport === "tls") {
    if (verified === "name")
      return finding("connection", "ok", `Sessions with ${server} are encrypted, and the server is verified.`)
    const known =
      verified === "authority"
        ? "its certificate's authority is verified, but not the host name"
        : "the server is not verified"
    return finding(
      "connection",
      "warn",
      `Sessions with ${server} are encrypted, but ${known}: somebody in between could impersonate it. Add sslmode=verify-full to DATABASE_URL, and name the server's certificate authority in DATABASE_CA if it is not a public one.`,
    )
  }
  return isLoopback
    ? finding("connection", "ok", `Sessions with ${server} are in clear text and stay on this machine.`)
    : finding(
        "connection",
        "warn",
        `Sessions with ${server} are in clear text: somebody in between could read and change it. Enable TLS on the server, and add sslmode=verify-full to DATABASE_URL.`,
      )
}

/** Libraries that the shipped PostgreSQL's package has not updated. */
const SHIPPED = "libxml2 2.9.4, OpenSSL 1.1.1 and ICU 60"

/** Whether the machine has a newer PostgreSQL than the shipped one. */
export const ofShipped = ({ major, others }: SeenShipped): Finding => {
  const same = others.find((other) => other.major === major)
  const first = same ?? others[0]
  const libraries = `The embedded PostgreSQL comes with ${SHIPPED}, which get no fixes any more; functions of XML are revoked there.`
  if (same !== undefined) {
    return finding(
      "libraries",
      "warn",
      `${libraries} This machine has a PostgreSQL ${major} of its own, which can serve the same data with the libraries of the system: set CABINET_POSTGRES_BIN=${same.bin} and start again.`,
    )
  }
  const offer =
    first === undefined
      ? `Install PostgreSQL ${major} on this machine`
      : `For a new data directory, CABINET_POSTGRES_BIN=${first.bin} uses this machine's PostgreSQL ${first.major}; for these data, install PostgreSQL ${major}`
  return finding(
    "libraries",
    "ok",
    `${libraries} ${offer}, and name the directory of its programs in CABINET_POSTGRES_BIN.`,
  )
}
