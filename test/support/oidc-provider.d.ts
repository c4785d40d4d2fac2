/** Types of the parts that the tests use, because the package has none. */
declare module "oidc-provider" {
  const Provider: new (issuer: string, configuration: object) => any
  export default Provider
}
