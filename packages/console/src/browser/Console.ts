/**
 * The console's script. Everything works without it; it loads more rows, searches lists as one types, and copies on a
 * click.
 */
import { copyButtons } from "./CopyButtons.ts"
import { findInLists, filterLines } from "./Filters.ts"
import { linksInto } from "./Into.ts"
import { submitOnce, markAll, claimLink } from "./Forms.ts"
import { uploads } from "./Upload.ts"
import { keys } from "./Keys.ts"
import { menusOnDemand } from "./Menus.ts"
import { palette } from "./Palette.ts"
import { liveLinks } from "./Live.ts"
import { rangeDrags } from "./Ranges.ts"
import { Grid } from "./Grid.ts"
import { columnWidths } from "./Widths.ts"
import { walkLists } from "./Walk.ts"

findInLists()
claimLink()
copyButtons()
linksInto()
uploads()
submitOnce()
keys()
palette()
menusOnDemand()
markAll()
liveLinks()
filterLines()
walkLists()
rangeDrags()

for (const box of document.querySelectorAll<HTMLElement>(".grid[data-rows]")) {
  columnWidths(box)
  if (box.querySelector("tbody tr") !== null) Reflect.construct(Grid, [box])
}

// Scrolls the navigation to the open section if the screen is too narrow for all of them.
for (const link of document.querySelectorAll("nav [aria-current]")) {
  const nav = link.closest("nav")!
  const [at, around] = [link.getBoundingClientRect(), nav.getBoundingClientRect()]
  // `scrollIntoView` would scroll the page as well, away from a field that has the focus.
  nav.scrollLeft += at.left - around.left - (around.width - at.width) / 2
}

// A field that came back refused. Browsers focus it only with the first frame, which can come after the page is loaded and used.
const refused = document.querySelector<HTMLElement>("[autofocus]:not([popover])")
if (document.activeElement === document.body) refused?.focus()
// Some browsers give it the focus without scrolling to it.
refused?.scrollIntoView({ block: "center" })
