/** A value created on first use, so that no start waits for a value that may never be needed. */
export const madeOnce = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}
