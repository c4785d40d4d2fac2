/** Whether the package is tried with every compiler, bundler and runtime that the documents name, as the trials do. */
export const EVERY_CONSUMER = process.env["EVERY_CONSUMER"] !== undefined
