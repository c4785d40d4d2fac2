/** The console's script. Everything works without it; it makes lists quicker to search. */
import { findInLists } from "./FindInLists.ts"

findInLists()
