/**
 * The version of Data Cabinet: a constant, so that no bundle has to find a file. A test compares it with every package.
 */
export const VERSION = "0.1.0"
