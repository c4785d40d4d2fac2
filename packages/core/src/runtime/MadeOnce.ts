/** A value that is made when it is first asked for, so that no start waits for what may never be needed. */
export const madeOnce = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}
