/** Untrusted text made fit to be shown. */

/** Line ends and other control characters, each run of which becomes a space. */
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu
/** Characters that cannot be seen or turn the direction of text, except the joiner of emoji, and halves of characters. */
const INVISIBLE = /(?!\u200d)[\p{Cf}\p{Cs}\p{Co}]/gu

/** The text in one line without control characters, without invisible ones and without spaces at its ends. */
export const plainText = (text: string): string => text.replace(CONTROL, " ").replace(INVISIBLE, "").trim()
