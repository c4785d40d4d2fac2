/** Names binary formats by the bytes with which their files begin. */

/** The first bytes, one character each; `?` matches any. */
const SIGNATURES: ReadonlyArray<readonly [pattern: string, what: string]> = [
  ["\x1f\x8b", "a gzip archive"],
  ["\x1f\x9d", "a compressed file (.Z)"],
  ["BZh?1AY&SY", "a bzip2 archive"],
  ["\xfd7zXZ\0", "an XZ archive"],
  ["7z\xbc\xaf'\x1c", "a 7-Zip archive"],
  ["Rar!\x1a\x07", "a RAR archive"],
  ["\x28\xb5\x2f\xfd", "a Zstandard archive"],
  ["\x04\x22\x4d\x18", "an LZ4 archive"],
  [`${"?".repeat(257)}ustar`, "a tar archive"],
  ["!<arch>\n", "an archive or a package (ar)"],
  ["\xed\xab\xee\xdb", "a package (RPM)"],
  ["PK\x05\x06", "an empty zip archive"],
  ["\x89PNG", "an image (PNG)"],
  ["\xff\xd8\xff", "an image (JPEG)"],
  ["GIF8?a", "an image (GIF)"],
  ["II*\0", "an image (TIFF)"],
  ["MM\0*", "an image (TIFF)"],
  ["RIFF????WEBP", "an image (WebP)"],
  ["\0\0\x01\0\x01\0", "an image (ICO)"],
  ["\0\0\0\x0cjP  ", "an image (JPEG 2000)"],
  ["\0\0??ftyp", "a video or an image"],
  ["RIFF????AVI ", "a video"],
  ["\x1a\x45\xdf\xa3", "a video (Matroska or WebM)"],
  ["OggS\0", "an audio file"],
  ["ID3\x02", "an audio file"],
  ["ID3\x03", "an audio file"],
  ["ID3\x04", "an audio file"],
  ["RIFF????WAVE", "an audio file"],
  ["\x7fELF", "a program"],
  ["\xca\xfe\xba\xbe\0\0\0", "a program"],
  ["\xcf\xfa\xed\xfe", "a program"],
  ["\0asm\x01", "a program (WebAssembly)"],
  ["SQLite format 3", "an SQLite database"],
  ["\0\x01\0\0Standard ?? DB", "a database of Access"],
  ["\0\x01\0\0Standard ??? DB", "a database of Access"],
  ["ARROW1\0\0", "an Arrow file"],
  ["\x89HDF\r\n", "an HDF5 file"],
  ["\x93NUMPY", "a NumPy array"],
  ["$FL2@(#) ", "a data file of SPSS"],
  ["bplist00", "a binary property list"],
  ["{\\rtf", "a text document (RTF)"],
  ["AT&TFORM", "a document (DjVu)"],
  ["\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07", "a signed or encrypted file (PKCS #7)"],
  ["\x30\x82??\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07", "a signed or encrypted file (PKCS #7)"],
  ["\x30\x83???\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07", "a signed or encrypted file (PKCS #7)"],
  ["\x30\x82??\x30\x82", "a key or certificate (DER)"],
]

/** Signatures that are also the beginnings of words: they count only before bytes that no text has, or at the end of the file. */
const LETTERS: ReadonlyArray<readonly [pattern: string, what: string]> = [
  ["MZ", "a program"],
  ["PAR1PAR1", "a Parquet file"],
  ["PAR1", "a Parquet file"],
  ["PARE", "an encrypted Parquet file"],
  ["ORC", "an ORC file"],
  ["Obj\x01", "an Avro file"],
  ["FEA1", "a Feather file"],
  ["BM", "an image (BMP)"],
  ["8BPS", "an image (Photoshop)"],
  ["MSCF", "a cabinet archive (CAB)"],
  ["BZh9", "a bzip2 archive"],
  ["fLaC", "an audio file"],
  ["MThd", "an audio file"],
  ["OTTO", "a font"],
  ["wOFF", "a font"],
  ["wOF2", "a font"],
  ["PGDMP", "a dump of a PostgreSQL database"],
  ["!BDN", "a mailbox of Outlook"],
  ["ITSF", "a file of help (CHM)"],
  ["CWS", "a Flash film"],
  ["FWS", "a Flash film"],
]

const hasSignature = (begin: string, pattern: string): boolean =>
  begin.length >= pattern.length && pattern.split("").every((one, at) => one === "?" || one === begin[at])

/** How far after such a signature a byte that no text has is sought. */
const NEAR_BYTES = 12

const isAlone = (begin: string, pattern: string): boolean =>
  begin.length === pattern.length
    ? pattern.length > 2 || pattern === "MZ"
    : // eslint-disable-next-line no-control-regex -- bytes that no text has
      /[\0-\x06\x0e-\x19]/.test(begin.slice(pattern.length, pattern.length + NEAR_BYTES))

/** `head`: the first bytes of the file, at least 300 if it has them. */
export const signatureOf = (head: Uint8Array): string | undefined => {
  const begin = Buffer.from(head.subarray(0, 300)).toString("latin1")
  if (/^\s{0,100}%PDF(?:-|$)/.test(begin)) return "a PDF document"
  const found =
    SIGNATURES.find(([pattern]) => hasSignature(begin, pattern)) ??
    LETTERS.find(([pattern]) => begin.startsWith(pattern) && isAlone(begin, pattern))
  return found?.[1]
}

/** Zero bytes so near the beginning are not part of a column's name. */
const FIRST_BYTES = 8

/**
 * Whether a text, in a charset of any width, begins with zero bytes that are not part of its characters. JSON and a quoted
 * name may contain one.
 */
export const beginsWithZeros = (head: Uint8Array, text: string): boolean =>
  head.subarray(0, FIRST_BYTES).includes(0) && /^[^\n\r,;|\t[{"]{0,7}\uFFFD/.test(text)
