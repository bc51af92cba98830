import type { Mint } from "../../domain/Address.ts"
import type { TokenMatch } from "../../api/schemas/TokenSearch.ts"
import { isOneEditAway, plainText, skeletonOf, wordsOf } from "./matchingText.ts"

/** The name and the symbol of a mint. */
export interface TokenNames {
  readonly name: string | null
  readonly symbol: string | null
}

/** A mint of the index. */
export interface IndexedToken {
  readonly mint: Mint
  readonly names: TokenNames | null
  readonly symbol: string
  readonly name: string
  /** The texts in a form in which texts that look alike are equal. */
  readonly symbolSkeleton: string
  readonly nameSkeleton: string
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

const ADDRESS_TEXT = /^[1-9A-HJ-NP-Za-km-z]+$/u

/**
 * The trigrams of a text that are looked up, and the least number of them that a match has. A short word may have no
 * typo, so its last characters decide. For longer words one edit costs three trigrams at most, and a word that goes on
 * costs one. For a long text half of the trigrams are enough. Exchanging two neighbours costs four; `swappedIn` finds
 * such matches.
 */
const soughtIn = (
  words: ReadonlyArray<string>,
  trigrams: ReadonlySet<string>
): readonly [sought: ReadonlySet<string>, least: number] => {
  const [word = ""] = words
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
    this.plain = plainText(text)
    this.skeleton = skeletonOf(text)
    this.words = wordsOf(this.skeleton)
    this.trigrams = allTrigrams(this.words)
    const [start, least] = soughtIn(this.words, this.trigrams)
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
    const { skeleton } = this
    if (token.names === null || skeleton === "") {
      return null
    }
    const match = shared >= this.beginning ? this.#matchOfBeginning(token) : null
    if (match !== null) {
      return match
    }
    if (
      shared >= this.whole &&
      skeleton.length >= LEAST_PART &&
      (token.symbolSkeleton.includes(skeleton) || token.nameSkeleton.includes(skeleton))
    ) {
      return "part"
    }
    return this.#isTypoOf(token, shared) ? "typo" : null
  }

  #matchOfBeginning(token: IndexedToken): TokenMatch | null {
    const { plain, skeleton } = this
    if (token.symbol === plain || token.name === plain) {
      return token.symbol === plain ? "symbol" : "name"
    }
    if (token.symbolSkeleton === skeleton || token.nameSkeleton === skeleton) {
      return "confusable"
    }
    if (token.symbolSkeleton.startsWith(skeleton)) {
      return "symbol_prefix"
    }
    if (
      token.nameSkeleton.startsWith(skeleton) ||
      this.words.every((word) => token.words.some((w) => w.startsWith(word)))
    ) {
      return "name_prefix"
    }
    return null
  }

  #isTypoOf(token: IndexedToken, shared: number): boolean {
    const { skeleton } = this
    if (skeleton.length < LEAST_TYPED) {
      return false
    }
    const { words } = this
    return (
      isOneEditAway(skeleton, token.symbolSkeleton) ||
      (words.length > 1
        ? isOneEditAway(skeleton, token.nameSkeleton)
        : token.words.some((word) => word.length >= LEAST_TYPED && isOneEditAway(skeleton, word))) ||
      (skeleton.length >= LONG &&
        shared >= LEAST_SIMILAR * this.trigrams.size &&
        similarity(this.trigrams, allTrigrams(wordsOf(token.nameSkeleton))) >= LEAST_SIMILAR)
    )
  }
}
