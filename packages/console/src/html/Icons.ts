/** The icons of the screens, inline as SVG paths. */
import { Html } from "@data-cabinet/http-node/html/Html"

const sign = (paths: string): Html =>
  new Html(
    `<svg class="i" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`,
  )

export const ICONS = {
  cabinet: sign(
    '<rect x="2.5" y="1.5" width="11" height="13" rx="1.5"/><path d="M2.5 6h11M2.5 10.5h11M7 3.8h2M7 8.2h2M7 12.6h2"/>',
  ),
  cross: sign('<path d="m4 4 8 8M12 4l-8 8"/>'),
  down: sign('<path d="m4 6 4 4 4-4"/>'),
  ascending: sign('<path d="M8 13V3M4 7l4-4 4 4"/>'),
  descending: sign('<path d="M8 3v10M4 9l4 4 4-4"/>'),
  left: sign('<path d="M13 8H3M7 4 3 8l4 4"/>'),
  right: sign('<path d="M3 8h10M9 4l4 4-4 4"/>'),
  edit: sign('<path d="m10.5 2.500 3 3L6 13H3v-3z"/>'),
  search: sign('<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>'),
  sum: sign('<path d="M12 4.5V3H4l4.500 5L4 13h8v-1.500"/>'),
  filter: sign('<path d="M2 3h12L9.5 8.5V13l-3-1.5v-3z"/>'),
  calendar: sign('<rect x="2" y="3" width="12" height="11" rx="1.5"/><path d="M2 6.5h12M5 1.5v3M11 1.5v3"/>'),
  columns: sign('<rect x="2" y="2.5" width="12" height="11" rx="1.5"/><path d="M6 2.5v11M10 2.5v11"/>'),
  copy: sign(
    '<rect x="5.5" y="5.5" width="8" height="8.5" rx="1.5"/><path d="M10.5 5.500V3A1.5 1.5 0 0 0 9 1.500H4A1.5 1.5 0 0 0 2.500 3v6A1.5 1.5 0 0 0 4 10.500h1.500"/>',
  ),
  export: sign('<path d="M8 2v8M4.500 6.500 8 10l3.500-3.500M2.500 13.500h11"/>'),
  star: sign(
    '<path d="m8 2 1.800 3.900 4.200.500-3.100 2.900.800 4.200L8 11.400l-3.700 2.100.800-4.200L2 6.400l4.200-.500z"/>',
  ),
  trash: sign('<path d="M2.500 4h11M6 4V2.500h4V4M4 4l.700 9.500h6.600L12 4M6.700 6.500v4.500M9.300 6.500v4.500"/>'),
  values: sign('<path d="M2.500 13.500v-4h3v4M6.500 13.500v-8h3v8M10.500 13.500v-11h3v11"/>'),
  more: sign('<path d="M3 8h.010M8 8h.010M13 8h.010" stroke-width="2.500"/>'),
  jump: sign('<path d="M2 8h8.500M7.500 4.500 11 8l-3.500 3.500M14 3v10"/>'),
  alert: sign('<circle cx="8" cy="8" r="6"/><path d="M8 5v3.500M8 11v.010"/>'),
} as const
