/**
 * Recognizes files by their extension if their content is ambiguous: a few lines of source code or settings could also be a
 * column of words.
 */

const ENDS: ReadonlyArray<readonly [ends: string, what: string]> = [
  ["yaml yml", "a YAML document"],
  ["ini toml cfg conf properties env reg desktop editorconfig", "a file of settings"],
  [
    "py rb php js mjs cjs jsx ts mts cts tsx c h cc cpp cxx hpp cs java kt kts scala go swift m lua r jl hs ex exs erl clj dart vb pas asm css scss less vue svelte tf gradle cmake",
    "the source code of a program",
  ],
  ["sh bash zsh fish bat cmd ps1 psm1", "a script"],
  ["sql", "an SQL script"],
  ["md markdown rst adoc tex bib", "a text document"],
  ["eml mbox", "a mail message"],
  ["html htm xhtml mht mhtml", "a web page"],
  ["po pot", "a catalog of translations"],
  ["diff patch", "changes of a program"],
  ["exe dll msi sys dylib o a bin class jar wasm apk deb rpm dmg iso img", "a program or an image of a disk"],
  ["pdf doc docx odt rtf ppt pptx odp pages epub djvu", "a document"],
  ["png jpg jpeg gif bmp tif tiff webp ico heic psd eps ps svg", "an image"],
  ["mp3 mp4 m4a m4v mov avi mkv webm wav flac ogg", "audio or video"],
  ["7z rar tar xz bz2 lz4 zst cab", "an archive"],
  [
    "parquet orc avro arrow feather sqlite sqlite3 mdb accdb sas7bdat sav dta rds rdata pkl npy h5",
    "a file of data in a binary format",
  ],
  ["p7m p7s p7b p12 pfx cer crt der pem key pgp gpg", "a signed or encrypted file, or a certificate"],
]

const BY_END = new Map(ENDS.flatMap(([ends, what]) => ends.split(" ").map((end) => [end, what] as const)))

/** Files recognized by their whole name. */
const BY_NAME = /^(?:Dockerfile|Makefile|Jenkinsfile|Vagrantfile|Gemfile|Rakefile)$/

/** The kind of a file by its name, as the end of a sentence; undefined for a name that a table may have. */
export const foreignName = (name: string): string | undefined => {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1)
  if (BY_NAME.test(last)) return "the source code of a program"
  const end = /\.(\w{1,15})$/.exec(last)?.[1]?.toLowerCase()
  return end === undefined ? undefined : BY_END.get(end)
}
