/**
 * Where this package's code is, for finding packages that are installed beside it. Undefined in a bundle that does not
 * know its place; a bundle replaces this module with one of its own (`scripts/bundle/embedFiles.mjs`).
 */
export const ownLocation: string | undefined = import.meta.url
