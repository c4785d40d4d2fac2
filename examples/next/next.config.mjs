/** The cabinet finds its migrations and PostgreSQL's binaries by its own location, so it is loaded from node_modules. */
export default {
  serverExternalPackages: ["data-cabinet"],
}
