/** The cabinet finds its migrations and PostgreSQL's binaries by where it stands, so it is loaded from node_modules. */
export default {
  serverExternalPackages: ["data-cabinet"],
}
