/** Finds tokens that use the symbol or the name of a much larger token. */
import type { Mint } from "../../domain/Address.ts"
import { COMPLETE, incomplete } from "../../domain/Scalar.ts"
import { compare, multiply, type Rational, whole } from "../../domain/rational.ts"
import type { LookAlike } from "../../api/schemas/TokenSearch.ts"
import { isMoney } from "../../domain/stables.ts"
import type { TokenRef } from "../../api/schemas/Token.ts"
import type { IndexedToken } from "./Needle.ts"

/** A mint is much larger when it has this many times the liquidity. */
const MUCH = whole(10n)
/** How many mints of equal texts are compared: SOL and dollars, then those with the largest volume. */
const MOST_COMPARED = 16

/** Reads that the comparison needs. */
export interface LookAlikeSources {
  readonly alike: (skeleton: string) => ReadonlyArray<IndexedToken>
  /** Dollars in the pools of a mint; null when unknown. */
  readonly liquidityOf: (mint: Mint) => Rational | null
  readonly refOf: (mint: Mint) => TokenRef
}

interface Sized {
  readonly token: IndexedToken
  readonly liquidity: Rational | null
}

/** The first mints of equal texts, and whether there are more. */
interface Group {
  readonly first: ReadonlyArray<IndexedToken>
  readonly isCut: boolean
}

/** A verdict, and the mint that has to come before this one in a list; null when none has to. */
interface Verdict {
  readonly lookAlike: LookAlike
  readonly behind: Mint | null
}

const NOTHING: LookAlike = { isLookAlike: false, by: null, of: null, isConfusable: null, coverage: COMPLETE }
const NO_VERDICT: Verdict = { lookAlike: NOTHING, behind: null }

const isMuchLarger = ({ liquidity, token }: Sized, than: Rational | null): boolean =>
  isMoney(token.mint) ||
  (liquidity !== null && than !== null && liquidity.numerator > 0n && compare(liquidity, multiply(than, MUCH)) >= 0)

const larger = (a: Sized, b: Sized): Sized => {
  if (isMoney(a.token.mint) !== isMoney(b.token.mint)) {
    return isMoney(a.token.mint) ? a : b
  }
  return a.liquidity === null || (b.liquidity !== null && compare(a.liquidity, b.liquidity) < 0) ? b : a
}

/** SOL and dollars first, then by volume. */
const inOrder = (a: IndexedToken, b: IndexedToken): number =>
  Number(isMoney(b.mint)) - Number(isMoney(a.mint)) || b.volume - a.volume || (a.mint < b.mint ? -1 : 1)

/** One more than is compared, because a token is not compared with itself. */
const groupOf = (alike: ReadonlyArray<IndexedToken>): Group => ({
  first: alike.toSorted(inOrder).slice(0, MOST_COMPARED + 1),
  isCut: alike.length > MOST_COMPARED + 1
})

/** Texts of a token as they are written, without case. */
const plainTexts = ({ nameTexts, symbol }: IndexedToken): ReadonlyArray<string> =>
  [symbol, ...nameTexts].map(({ plain }) => plain).filter((plain) => plain !== "")

/** How a token imitates another: by its symbol if that looks like a text of the other, otherwise by its name. */
const imitation = (token: IndexedToken, other: IndexedToken): Pick<LookAlike, "by" | "isConfusable"> => ({
  by: other.skeletons.includes(token.symbol.skeleton) ? "symbol" : "name",
  isConfusable: !plainTexts(token).some((plain) => plainTexts(other).includes(plain))
})

/** Compares tokens with tokens of the same symbol or name. The liquidity of each is read once. */
export const makeLookAlikes = (sources: LookAlikeSources) => {
  const groups = new Map<string, Group>()
  const liquidities = new Map<Mint, Rational | null>()
  const liquidityOf = (mint: Mint): Rational | null => {
    const known = liquidities.get(mint)
    const liquidity = known === undefined ? sources.liquidityOf(mint) : known
    liquidities.set(mint, liquidity)
    return liquidity
  }

  // Sorted once, however many tokens share a text: a popular name has thousands.
  const groupAt = (skeleton: string): Group => {
    const group = groups.get(skeleton) ?? groupOf(sources.alike(skeleton))
    groups.set(skeleton, group)
    return group
  }

  return (token: IndexedToken): Verdict => {
    const { mint, skeletons } = token
    if (isMoney(mint) || skeletons.length === 0) {
      return NO_VERDICT
    }
    const alike = skeletons.map(groupAt)
    const candidates = Array.from(new Set(alike.flatMap(({ first }) => first)))
      .filter((other) => other.mint !== mint)
      .toSorted(inOrder)
    const others = candidates
      .slice(0, MOST_COMPARED)
      .map((other): Sized => ({ token: other, liquidity: liquidityOf(other.mint) }))
    const isCut = candidates.length > others.length || alike.some((group) => group.isCut)
    if (others.length === 0) {
      return NO_VERDICT
    }
    const own = liquidityOf(mint)
    const [first, ...more] = others.filter((other) => isMuchLarger(other, own))
    const isKnown = own !== null && others.every((other) => isMoney(other.token.mint) || other.liquidity !== null)
    const coverage = !isKnown ? incomplete("not_captured") : isCut ? incomplete("limit_clipped") : COMPLETE
    if (first === undefined) {
      // While its own liquidity is unknown, it stays behind the largest one that is known.
      const known = own === null ? largestOf(others.filter(({ liquidity }) => (liquidity?.numerator ?? 0n) > 0n)) : null
      return {
        lookAlike: { ...NOTHING, isLookAlike: own === null ? null : false, coverage },
        behind: known?.token.mint ?? null
      }
    }
    const largest = more.reduce(larger, first)
    return {
      lookAlike: {
        isLookAlike: true,
        ...imitation(token, largest.token),
        of: sources.refOf(largest.token.mint),
        coverage
      },
      behind: largest.token.mint
    }
  }
}

const largestOf = ([first, ...more]: ReadonlyArray<Sized>): Sized | null =>
  first === undefined ? null : more.reduce(larger, first)
