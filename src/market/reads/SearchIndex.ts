import type { Mint } from "../../domain/Address.ts"
import type { TokenMatch } from "../../api/schemas/TokenSearch.ts"
import { isMoney } from "../../domain/stables.ts"
import { wordsOf } from "./matchingText.ts"
import { moneyNames } from "./moneyNames.ts"
import {
  allTrigrams,
  firstPosting,
  type IndexedToken,
  LEAST_ADDRESS,
  matchText,
  Needle,
  type TokenNames
} from "./Needle.ts"

/** A mint that a text matches. */
export interface FoundToken {
  readonly token: IndexedToken
  readonly match: TokenMatch
}

/** Matches, the best first. */
const RANKS: Readonly<Record<TokenMatch, number>> = {
  address: 0,
  symbol: 1,
  name: 2,
  confusable: 3,
  symbol_prefix: 4,
  address_prefix: 5,
  name_prefix: 6,
  part: 7,
  typo: 8
}

/** The rank of a kind of match. */
export const rankOf = (match: TokenMatch): number => RANKS[match]

const NO_TEXTS = { symbol: matchText(""), nameTexts: [], skeletons: [], words: [] }

/** The texts of a mint in the forms in which they are compared. */
const indexed = (mint: Mint, names: TokenNames): Omit<IndexedToken, "volume"> => {
  const symbol = matchText(names.symbol ?? "")
  const nameTexts = [names.name ?? "", ...moneyNames(mint)].filter((name) => name !== "").map(matchText)
  const texts = [symbol, ...nameTexts]
  return {
    mint,
    names,
    symbol,
    nameTexts,
    skeletons: Array.from(new Set(texts.map(({ skeleton }) => skeleton))).filter((skeleton) => skeleton !== ""),
    words: Array.from(new Set(texts.flatMap(({ folded }) => wordsOf(folded))))
  }
}

/**
 * Mints by symbol, name and address. Texts are found by their trigrams and then compared, so a posting that is out of
 * date only costs time. Bounded: the mint that was added first and has no volume makes room, or else the first mint.
 */
export class SearchIndex {
  readonly #most: number
  readonly #numbers = new Map<Mint, number>()
  readonly #tokens: Array<IndexedToken | undefined> = []
  readonly #free: Array<number> = []
  #postings = new Map<string, Array<number>>()
  readonly #byAddress = new Map<string, Set<number>>()
  readonly #bySkeleton = new Map<string, Set<number>>()
  /** How often a token was met, and the search that counted it. */
  #hits = new Uint8Array(1024)
  #outdated = 0
  #names = 0

  constructor(most: number) {
    this.#most = Math.max(1, most)
  }

  /** The number of mints. */
  get size(): number {
    return this.#numbers.size
  }

  /** The number of mints whose name and symbol are known, or known to be missing. */
  get named(): number {
    return this.#names
  }

  /** The mint; null when the index does not have it. */
  of(mint: Mint): IndexedToken | null {
    return this.#tokens[this.#numbers.get(mint) ?? -1] ?? null
  }

  /** Adds a mint, and returns it. Its names may become known later. */
  see(mint: Mint, volume?: number): IndexedToken {
    const token = this.#tokens[this.#numberOf(mint)] ?? { mint, names: null, ...NO_TEXTS, volume: 0 }
    token.volume = volume ?? token.volume
    return token
  }

  /** Sets the names of a mint, and adds the mint when it is missing. */
  put(mint: Mint, names: TokenNames): void {
    const number = this.#numberOf(mint)
    const before = this.#tokens[number]
    if (before?.names !== null && before?.names.symbol === names.symbol && before.names.name === names.name) {
      return
    }
    this.#unlink(number)
    this.#tokens[number] = { ...indexed(mint, names), volume: before?.volume ?? 0 }
    this.#names++
    this.#link(number)
  }

  /** Mints with a symbol or name of this skeleton. */
  alike(skeleton: string): ReadonlyArray<IndexedToken> {
    return Array.from(this.#bySkeleton.get(skeleton) ?? []).flatMap((number) => this.#tokens[number] ?? [])
  }

  /**
   * The best `most` matches of a text, by their kind, then by volume, then by address. `isCut` says that there are
   * more.
   */
  find(text: string, most: number): { readonly found: ReadonlyArray<FoundToken>; readonly isCut: boolean } {
    const needle = new Needle(text)
    const byRank: Array<Array<FoundToken>> = Object.keys(RANKS).map(() => [])
    const money: Array<FoundToken> = []
    for (const [number, shared] of this.#candidates(needle)) {
      const token = this.#tokens[number]
      const match = token === undefined ? null : needle.matchOf(token, shared)
      if (token !== undefined && match !== null) {
        const found = { token, match }
        byRank[RANKS[match]]?.push(found)
        if (isMoney(token.mint)) {
          money.push(found)
        }
      }
    }
    const found: Array<FoundToken> = []
    for (const group of byRank) {
      if (found.length <= most) {
        group.sort((a, b) => b.token.volume - a.token.volume || (a.token.mint < b.token.mint ? -1 : 1))
        found.push(...group.slice(0, most + 1))
      }
    }
    // SOL and dollars are never cut off by copies of their names.
    const shown = found.slice(0, most)
    const lost = money.filter((each) => !shown.includes(each)).slice(0, most)
    shown.splice(most - lost.length, lost.length, ...lost)
    return { found: shown, isCut: found.length > most }
  }

  /** Tokens that may match, each with the least number of trigrams that it shares with the text. */
  #candidates(needle: Needle): ReadonlyMap<number, number> {
    const met: Array<number> = []
    for (const trigram of needle.sought) {
      for (const number of this.#postings.get(trigram) ?? []) {
        const hits = this.#hits[number] ?? 0
        if (hits === 0) {
          met.push(number)
        }
        this.#hits[number] = Math.min(255, hits + 1)
      }
    }
    const candidates = new Map<number, number>()
    for (const number of met) {
      const hits = this.#hits[number] ?? 0
      this.#hits[number] = 0
      if (hits >= needle.least) {
        candidates.set(number, hits)
      }
    }
    for (const trigram of needle.swapped) {
      this.#postings.get(trigram)?.forEach((number) => candidates.set(number, candidates.get(number) ?? 0))
    }
    this.#bySkeleton
      .get(needle.skeleton)
      ?.forEach((number) => candidates.set(number, Math.max(candidates.get(number) ?? 0, needle.beginning)))
    if (needle.isAddress) {
      this.#byAddress
        .get(needle.text.slice(0, LEAST_ADDRESS))
        ?.forEach((number) => candidates.set(number, candidates.get(number) ?? 0))
    }
    return candidates
  }

  #numberOf(mint: Mint): number {
    const known = this.#numbers.get(mint)
    if (known !== undefined) {
      return known
    }
    if (this.#numbers.size >= this.#most) {
      this.#dropOne()
    }
    const number = this.#free.pop() ?? this.#tokens.length
    this.#tokens[number] = { mint, names: null, ...NO_TEXTS, volume: 0 }
    this.#numbers.set(mint, number)
    if (number >= this.#hits.length) {
      this.#hits = new Uint8Array(2 * this.#hits.length)
    }
    addTo(this.#byAddress, mint.slice(0, LEAST_ADDRESS), number)
    return number
  }

  #dropOne(): void {
    const quiet = this.#numbers
      .values()
      .take(MOST_LOOKED_AT)
      .find((number) => this.#tokens[number]?.volume === 0)
    const number = quiet ?? this.#numbers.values().next().value
    const token = number === undefined ? undefined : this.#tokens[number]
    if (number !== undefined && token !== undefined) {
      this.#unlink(number)
      removeFrom(this.#byAddress, token.mint.slice(0, LEAST_ADDRESS), number)
      this.#numbers.delete(token.mint)
      this.#tokens[number] = undefined
      this.#free.push(number)
    }
  }

  #link(number: number): void {
    const token = this.#tokens[number]
    if (token === undefined) {
      return
    }
    const firsts = [token.symbol, ...token.nameTexts].flatMap(({ folded }) => firstPosting(folded) ?? [])
    for (const trigram of new Set([...allTrigrams(token.words), ...firsts])) {
      const posting = this.#postings.get(trigram)
      if (posting === undefined) {
        this.#postings.set(trigram, [number])
      } else {
        posting.push(number)
      }
    }
    token.skeletons.forEach((skeleton) => addTo(this.#bySkeleton, skeleton, number))
  }

  /** Removes a token's names from the index. Its outdated postings stay until there are as many of them as tokens. */
  #unlink(number: number): void {
    const token = this.#tokens[number]
    if (token === undefined || token.names === null) {
      return
    }
    this.#names--
    token.skeletons.forEach((skeleton) => removeFrom(this.#bySkeleton, skeleton, number))
    this.#outdated++
    if (this.#outdated > this.#most) {
      this.#outdated = 0
      this.#postings = new Map()
      for (const [other, each] of this.#tokens.entries()) {
        if (other !== number && each !== undefined && each.names !== null) {
          this.#link(other)
        }
      }
    }
  }
}

/** The number of mints that are checked to find one without volume. */
const MOST_LOOKED_AT = 64

const addTo = (groups: Map<string, Set<number>>, key: string, number: number): void => {
  const group = groups.get(key)
  if (group === undefined) {
    groups.set(key, new Set([number]))
  } else {
    group.add(number)
  }
}

const removeFrom = (groups: Map<string, Set<number>>, key: string, number: number): void => {
  const group = groups.get(key)
  group?.delete(number)
  if (group?.size === 0) {
    groups.delete(key)
  }
}
