/** Types of the parts that the tests use of packages that have none. */
declare module "oidc-provider" {
  const Provider: new (issuer: string, configuration: object) => any
  export default Provider
}

declare module "aws4" {
  interface Signed {
    readonly headers: Readonly<Record<string, string>>
  }
  const aws4: { readonly sign: (request: object, credentials: object) => Signed }
  export default aws4
}
