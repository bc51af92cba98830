/** Makes untrusted text fit to be shown. */

/** Line ends and other control characters. Each run becomes a space. */
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu
/**
 * Characters that are invisible, private or change the direction of text, and lone surrogates. The joiner of emoji is
 * kept.
 */
const INVISIBLE = /(?!\u200d)[\p{Cf}\p{Cs}\p{Co}]/gu

/** The text in one line, without control characters, invisible characters and spaces at its ends. */
export const plainText = (text: string): string => text.replace(CONTROL, " ").replace(INVISIBLE, "").trim()
