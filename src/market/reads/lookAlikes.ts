/** Finds tokens that use the symbol of a much larger token. */
import type { Mint } from "../../domain/Address.ts"
import { COMPLETE, incomplete } from "../../domain/Scalar.ts"
import { compare, multiply, type Rational, whole } from "../../domain/rational.ts"
import type { LookAlike } from "../../api/schemas/TokenSearch.ts"
import { isMoney } from "../../domain/stables.ts"
import type { TokenRef } from "../../api/schemas/Token.ts"
import type { IndexedToken } from "./Needle.ts"

/** A mint is much larger when it has this many times the liquidity. */
const MUCH = whole(10n)
/** How many mints of one symbol are compared: SOL and dollars, then those with the largest volume. */
const MOST_COMPARED = 16

/** Reads that the comparison needs. */
export interface LookAlikeSources {
  readonly alike: (symbolSkeleton: string) => ReadonlyArray<IndexedToken>
  /** Dollars in the pools of a mint; null when unknown. */
  readonly liquidityOf: (mint: Mint) => Rational | null
  readonly refOf: (mint: Mint) => TokenRef
}

interface Sized {
  readonly token: IndexedToken
  readonly liquidity: Rational | null
}

interface Group {
  readonly members: ReadonlyArray<Sized>
  readonly isCut: boolean
}

const NOTHING: LookAlike = { isLookAlike: false, of: null, isConfusable: null, coverage: COMPLETE }

const isMuchLarger = ({ liquidity, token }: Sized, than: Rational | null): boolean =>
  isMoney(token.mint) ||
  (liquidity !== null && than !== null && liquidity.numerator > 0n && compare(liquidity, multiply(than, MUCH)) >= 0)

const larger = (a: Sized, b: Sized): Sized => {
  if (isMoney(a.token.mint) !== isMoney(b.token.mint)) {
    return isMoney(a.token.mint) ? a : b
  }
  return a.liquidity === null || (b.liquidity !== null && compare(a.liquidity, b.liquidity) < 0) ? b : a
}

const groupOf = ({ alike, liquidityOf }: LookAlikeSources, skeleton: string): Group => {
  const all = alike(skeleton).toSorted(
    (a, b) => Number(isMoney(b.mint)) - Number(isMoney(a.mint)) || b.volume - a.volume || (a.mint < b.mint ? -1 : 1)
  )
  const members = all.slice(0, MOST_COMPARED).map((token) => ({ token, liquidity: liquidityOf(token.mint) }))
  return { members, isCut: all.length > members.length }
}

/** Compares tokens with tokens of the same symbol. The liquidity of each is read once. */
export const makeLookAlikes = (sources: LookAlikeSources) => {
  const groups = new Map<string, Group>()

  return (token: IndexedToken): LookAlike => {
    const { mint, symbol, symbolSkeleton } = token
    if (isMoney(mint) || symbolSkeleton === "") {
      return NOTHING
    }
    const group = groups.get(symbolSkeleton) ?? groupOf(sources, symbolSkeleton)
    groups.set(symbolSkeleton, group)
    const others = group.members.filter((other) => other.token.mint !== mint)
    if (others.length === 0) {
      return NOTHING
    }
    const own = sources.liquidityOf(mint)
    const [first, ...more] = others.filter((other) => isMuchLarger(other, own))
    const isKnown = own !== null && others.every((other) => isMoney(other.token.mint) || other.liquidity !== null)
    const coverage = !isKnown ? incomplete("not_captured") : group.isCut ? incomplete("limit_clipped") : COMPLETE
    if (first === undefined) {
      return { ...NOTHING, isLookAlike: own === null ? null : false, coverage }
    }
    const largest = more.reduce(larger, first)
    return {
      isLookAlike: true,
      of: sources.refOf(largest.token.mint),
      isConfusable: largest.token.symbol !== symbol,
      coverage
    }
  }
}
