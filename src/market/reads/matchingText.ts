/**
 * Prepares texts for matching. Names are compared without case, accents and hidden characters. Characters that look
 * alike count as one (Unicode Technical Standard 39, the part of its table for Latin letters and digits).
 */

/** Invisible characters: format, control, private and unassigned ones, and all that are ignored by default. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu
const MARKS = /\p{M}/gu
const SPACES = /\s+/gu
/** A dollar sign that introduces a symbol. */
const CASHTAG = /^\$+(?=.)/u

/** Letters of other scripts, and modified Latin letters, with the Latin letters that they look like; in lower case unless the two cases look different. */
const CONFUSABLE: Readonly<Record<string, string>> = {
  a: "аαɑᴀꭺⲁꓮ",
  b: "ьвβʙᏼƀⲃꓐ",
  c: "сϲᴄꮯƈ¢ⲥꓚ",
  d: "ԁɗᴅꭰđðꓓ",
  e: "еεєҽᴇɛꭼ℮ⲉꓰ€",
  f: "ғϝꜰƒꬵꓝ",
  g: "ɡցɢꮐԍꓖ",
  h: "һнհʜꮋћⲏꓧΗ",
  i: "іıɩιɪӏꭵⲓꓲ",
  j: "јϳᴊꭻʝꓙ",
  k: "кκᴋꮶƙⲕꓗ",
  l: "ⅼʟłꮮǀꓡԼ",
  m: "мᴍꮇⲙꓟΜ",
  n: "пոɴռπñηⲛꓠΝ",
  o: "оοσօᴏꮎøөⲟꓳ",
  p: "рρᴘꮲþⲣꓑ",
  q: "ԛգզ",
  r: "гʀᴦꭱꮁꓣ",
  s: "ѕꜱꮪʂꓢՏ$",
  t: "тτᴛꭲŧⲧꓔ",
  u: "υսᴜцμꓴԱ",
  v: "νѵᴠꮩꓦ",
  w: "ԝωшɯᴡꮃաꓪ",
  x: "хχ×ⲭꓫ",
  y: "уүγʏყꭹⲩꓬΥ",
  z: "ᴢꮓʐƶⲍꓜΖ"
}

const latinOf: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CONFUSABLE).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
  // Upper and lower case are equal here, so both I and l look like 1.
  ["0", "o"],
  ["1", "l"],
  ["|", "l"]
])

/** The text in lower case and compatibility form, without hidden characters, with single spaces. */
export const plainText = (text: string): string =>
  text.normalize("NFKC").replaceAll(HIDDEN, "").replaceAll(SPACES, " ").trim().toLowerCase().replace(CASHTAG, "")

/**
 * The text with each character as the one that it looks like, in lower case. Characters are replaced before their case
 * is, because a capital may look like another letter: the lower case of a Greek Ν is ν. Every beginning of a text has
 * the beginning of its folded form, so that searches compare folded texts.
 */
export const foldOf = (text: string): string => {
  const visible = text.normalize("NFKC").replaceAll(HIDDEN, "").replaceAll(SPACES, " ").trim().replace(CASHTAG, "")
  const bare = visible.normalize("NFKD").replaceAll(MARKS, "")
  return Array.from(bare, (character) => {
    const lower = character.toLowerCase()
    return latinOf.get(character) ?? latinOf.get(lower) ?? lower
  })
    .join("")
    .replaceAll("i", "l")
}

/** The text in a form in which texts that look alike are equal: folded, with letters that together look like one. */
export const skeletonOf = (text: string): string => foldOf(text).replaceAll("rn", "m").replaceAll("vv", "w")

/** The words of a text that was made comparable. */
export const wordsOf = (text: string): ReadonlyArray<string> => text.split(/[\s\p{P}]+/u).filter((word) => word !== "")

/** The text with hidden characters as escapes, including those that change direction: `\u{202e}`. */
export const escapeHidden = (text: string): string =>
  text.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** True when the texts differ by at most one insertion, deletion, replacement or exchange of neighbours. */
export const isOneEditAway = (a: string, b: string): boolean => {
  if (Math.abs(a.length - b.length) > 1) {
    return false
  }
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let at = 0
  while (at < short.length && short.charCodeAt(at) === long.charCodeAt(at)) {
    at++
  }
  let end = 0
  while (
    end < short.length - at &&
    short.charCodeAt(short.length - 1 - end) === long.charCodeAt(long.length - 1 - end)
  ) {
    end++
  }
  const differing = long.length - at - end
  return (
    differing <= 1 ||
    (differing === 2 && short.length === long.length && short[at] === long[at + 1] && short[at + 1] === long[at])
  )
}
