import type { Mint } from "../../domain/Address.ts"
import type { TokenMatch } from "../../api/schemas/TokenSearch.ts"
import { foldOf, isOneEditAway, plainText, skeletonOf, wordsOf } from "./matchingText.ts"

/** The name and the symbol of a mint. */
export interface TokenNames {
  readonly name: string | null
  readonly symbol: string | null
}

/** A symbol or a name in the forms in which texts are compared. */
export interface MatchText {
  readonly plain: string
  /** Equal for texts that differ in characters that look alike; the form of searches. */
  readonly folded: string
  /** Equal for all texts that look alike. */
  readonly skeleton: string
}

/** The forms of a text. */
export const matchText = (text: string): MatchText => ({
  plain: plainText(text),
  folded: foldOf(text),
  skeleton: skeletonOf(text)
})

/** A mint of the index. */
export interface IndexedToken {
  readonly mint: Mint
  readonly names: TokenNames | null
  readonly symbol: MatchText
  /** Its name, and the further names of SOL and dollars. */
  readonly nameTexts: ReadonlyArray<MatchText>
  /** Each skeleton of its texts once. Two mints with an equal one look alike. */
  readonly skeletons: ReadonlyArray<string>
  readonly words: ReadonlyArray<string>
  /** Nano-dollars of the last 24 hours, the nearest number. It orders matches and is never shown. */
  volume: number
}

/** From this many characters on, an address is matched by its beginning. */
export const LEAST_ADDRESS = 3
/** From this many characters on, a text is matched inside others, and with one typo. */
const LEAST_PART = 3
const LEAST_TYPED = 4
/** From this length on, texts that share this part of their trigrams match too. */
const LONG = 8
const LEAST_SIMILAR = 0.5

/** Every three neighbouring characters of a word, with two spaces before it and one after, as in pg_trgm. */
const trigramsOf = (word: string): ReadonlyArray<string> => {
  const padded = `  ${word} `
  return Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3))
}

/** The trigrams of words, each once. */
export const allTrigrams = (words: ReadonlyArray<string>): ReadonlySet<string> => new Set(words.flatMap(trigramsOf))

const similarity = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  const shared = a.intersection(b).size
  return shared / (a.size + b.size - shared)
}

/** A text that begins with no letter or digit is also found by its first character. */
const NO_WORD = /^[\s\p{P}]/u

/** The posting of the first character of a folded text; null when its first word is enough. */
export const firstPosting = (folded: string): string | null =>
  NO_WORD.test(folded) ? `^${String.fromCodePoint(folded.codePointAt(0) ?? 0)}` : null

const ADDRESS_TEXT = /^[1-9A-HJ-NP-Za-km-z]+$/u

/**
 * The trigrams of a text that are looked up, and the least number of them that a match has. A short word may have no
 * typo, so its last characters decide. For longer words one edit costs three trigrams at most, and a word that goes on
 * costs one. For a long text half of the trigrams are enough. Exchanging two neighbours costs four; `swappedIn` finds
 * such matches.
 */
const soughtIn = (
  words: ReadonlyArray<string>,
  trigrams: ReadonlySet<string>,
  folded: string
): readonly [sought: ReadonlySet<string>, least: number] => {
  const [word = ""] = words
  const first = firstPosting(folded)
  if (words.length === 0 && first !== null) {
    return [new Set([first]), 1]
  }
  if (words.length === 1 && word.length < LEAST_TYPED) {
    return [new Set([`  ${word}`.slice(-3)]), 1]
  }
  const lost = Math.max(3, words.length)
  return [trigrams, Math.max(1, Math.min(trigrams.size - lost, Math.ceil(LEAST_SIMILAR * trigrams.size)))]
}

/** For each pair of neighbouring characters in a short text, the trigram that ends with the two exchanged. */
const swappedIn = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [word = ""] = words
  return words.length !== 1 || word.length < LEAST_TYPED || word.length >= LONG
    ? []
    : Array.from({ length: word.length - 1 }, (_, at) => `${at === 0 ? " " : word[at - 1]}${word[at + 1]}${word[at]}`)
}

/** A text that is searched for. */
export class Needle {
  readonly text: string
  readonly plain: string
  readonly folded: string
  readonly skeleton: string
  readonly words: ReadonlyArray<string>
  readonly trigrams: ReadonlySet<string>
  readonly isAddress: boolean
  /** The trigrams that are looked up, and the number of them that every match has. */
  readonly sought: ReadonlySet<string>
  readonly least: number
  readonly swapped: ReadonlyArray<string>
  /**
   * A text that contains the search text shares at least `whole` trigrams with it. A text with a word that starts with
   * it shares at least `beginning`.
   */
  readonly whole: number
  readonly beginning: number

  constructor(text: string) {
    this.text = text.trim()
    const { folded, plain, skeleton } = matchText(text)
    this.plain = plain
    this.folded = folded
    this.skeleton = skeleton
    this.words = wordsOf(folded)
    this.trigrams = allTrigrams(this.words)
    const [start, least] = soughtIn(this.words, this.trigrams, folded)
    this.sought = start
    this.least = least
    this.swapped = swappedIn(this.words)
    this.whole = start.size === 1 ? 1 : this.trigrams.size - Math.max(3, this.words.length)
    this.beginning = start.size === 1 ? 1 : this.trigrams.size - this.words.length
    this.isAddress = ADDRESS_TEXT.test(this.text) && this.text.length >= LEAST_ADDRESS
  }

  /** `shared` is a lower bound of the number of trigrams that the token shares with the text. */
  matchOf(token: IndexedToken, shared: number): TokenMatch | null {
    if (this.isAddress && token.mint.startsWith(this.text)) {
      return token.mint === this.text ? "address" : (this.#matchOfNames(token, shared) ?? "address_prefix")
    }
    return this.#matchOfNames(token, shared)
  }

  #matchOfNames(token: IndexedToken, shared: number): TokenMatch | null {
    const { folded } = this
    if (token.names === null || folded === "") {
      return null
    }
    const match = shared >= this.beginning ? this.#matchOfBeginning(token) : null
    if (match !== null) {
      return match
    }
    if (
      shared >= this.whole &&
      folded.length >= LEAST_PART &&
      textsOf(token).some((text) => text.folded.includes(folded))
    ) {
      return "part"
    }
    return this.#isTypoOf(token, shared) ? "typo" : null
  }

  #matchOfBeginning(token: IndexedToken): TokenMatch | null {
    const { folded, plain, skeleton } = this
    const { nameTexts, symbol } = token
    if (symbol.plain === plain || nameTexts.some((name) => name.plain === plain)) {
      return symbol.plain === plain ? "symbol" : "name"
    }
    if (token.skeletons.includes(skeleton)) {
      return "confusable"
    }
    if (symbol.folded.startsWith(folded)) {
      return "symbol_prefix"
    }
    if (
      nameTexts.some((name) => name.folded.startsWith(folded)) ||
      (this.words.length > 0 && this.words.every((word) => token.words.some((w) => w.startsWith(word))))
    ) {
      return "name_prefix"
    }
    return null
  }

  #isTypoOf(token: IndexedToken, shared: number): boolean {
    const { folded } = this
    if (folded.length < LEAST_TYPED) {
      return false
    }
    const { words } = this
    return (
      isOneEditAway(folded, token.symbol.folded) ||
      (words.length > 1
        ? token.nameTexts.some((name) => isOneEditAway(folded, name.folded))
        : token.words.some((word) => word.length >= LEAST_TYPED && isOneEditAway(folded, word))) ||
      (folded.length >= LONG &&
        shared >= LEAST_SIMILAR * this.trigrams.size &&
        token.nameTexts.some((name) => similarity(this.trigrams, allTrigrams(wordsOf(name.folded))) >= LEAST_SIMILAR))
    )
  }
}

const textsOf = ({ nameTexts, symbol }: IndexedToken): ReadonlyArray<MatchText> => [symbol, ...nameTexts]
