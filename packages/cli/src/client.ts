/** For programs elsewhere, in browsers too: `import { Cabinet } from "data-cabinet/client"` needs nothing but `fetch`. */
export * from "@data-cabinet/client"
