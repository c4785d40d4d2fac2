/** It comes without types; the tests use a handful of its parts. */
declare module "oidc-provider" {
  const Provider: new (issuer: string, configuration: object) => any
  export default Provider
}
