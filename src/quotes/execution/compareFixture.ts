/** Compares one fixture with the engine: quotes every case and compares the result to the unit. */
import { isUnpriceable, type Pool, type Swap, type Unpriceable } from "../../programs/interface/Program.ts"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import { bigintOf, type Entry, type Fixture, textOf } from "./poolFixture.ts"
import { agrees, type CaseFormat } from "./caseFormat.ts"
import { decodePools } from "./decodeFixture.ts"

export interface Tally {
  readonly cases: number
  readonly exact: number
  /** Cases that the engine cannot price. */
  readonly refused: number
  readonly wrong: number
  /** Cases recorded from a program version that rounded differently. */
  readonly skipped: number
  readonly errorsRefused: number
  readonly errorsWrong: number
  /** Errors whose recorded transaction passed its accounts in the wrong order, so they prove nothing. */
  readonly errorsSkipped: number
}

export const emptyTally: Tally = {
  cases: 0,
  exact: 0,
  refused: 0,
  wrong: 0,
  skipped: 0,
  errorsRefused: 0,
  errorsWrong: 0,
  errorsSkipped: 0
}

export const addTallies = (a: Tally, b: Tally): Tally => ({
  cases: a.cases + b.cases,
  exact: a.exact + b.exact,
  refused: a.refused + b.refused,
  wrong: a.wrong + b.wrong,
  skipped: a.skipped + b.skipped,
  errorsRefused: a.errorsRefused + b.errorsRefused,
  errorsWrong: a.errorsWrong + b.errorsWrong,
  errorsSkipped: a.errorsSkipped + b.errorsSkipped
})

/** The engine's quote for a case, or why there is none. */
type QuoteOutcome = Swap | { readonly reason: string }

const decline = ({ detail, reason }: Unpriceable): QuoteOutcome => ({ reason: `${reason}: ${detail}` })

/** The direction of a case: from its input mint, `aToB` or `side`. */
const directionOf = (entry: Entry, pool: Pool): boolean | undefined => {
  if (typeof entry["aToB"] === "boolean") {
    return entry["aToB"]
  }
  const input = textOf(entry, "inputMint")
  if (input !== undefined) {
    return input === pool.mintA ? true : input === pool.mintB ? false : undefined
  }
  const side = textOf(entry, "side")
  return side === "sell" ? true : side === "buy" ? false : undefined
}

const quote = (pool: Pool, entry: Entry, clock: ChainClock): QuoteOutcome => {
  const aToB = directionOf(entry, pool)
  if (aToB === undefined) {
    return { reason: "the case names no mint of this pool" }
  }
  const exactOut = textOf(entry, "kind") === "exactOut"
  const amount = bigintOf(entry, exactOut ? "amountOut" : "amountIn") ?? bigintOf(entry, "x")
  if (amount === undefined) {
    return { reason: "the case names no amount" }
  }
  if (!exactOut) {
    return pool.swap(aToB, amount, clock)
  }
  return pool.swapExactOut?.(aToB, amount, clock) ?? { reason: "no exact-output quotes" }
}

const quoteFirst = (pools: ReadonlyArray<Pool | Unpriceable>, entry: Entry, clock: ChainClock): QuoteOutcome => {
  const priced = pools.filter((pool): pool is Pool => !isUnpriceable(pool))
  const pool = priced.find((candidate) => directionOf(entry, candidate) !== undefined) ?? priced[0]
  if (pool !== undefined) {
    return quote(pool, entry, clock)
  }
  const [failed] = pools
  return failed !== undefined && isUnpriceable(failed) ? decline(failed) : { reason: "no pool of a known program" }
}

/** True when the entry is tagged `oldRounding`: by a flag, by the value of some field, or in a list of tags. */
const oldRounding = (entry: Entry): boolean =>
  entry["oldRounding"] === true || Object.values(entry).flat().includes("oldRounding")

/**
 * Compares every case and every error. `note` gets a line for each one that is not exact. `formats` are the formats
 * of cases that describe their own pool.
 */
export const compareFixture = (
  fixture: Fixture,
  note: (line: string) => void,
  formats: ReadonlyArray<CaseFormat> = []
): Tally => {
  const pools = decodePools(fixture)
  const outcomeFor = (entry: Entry): QuoteOutcome => {
    const format = formats.find(({ describes }) => describes(entry))
    const clock = fixture.clockOf(entry)
    return format === undefined
      ? quoteFirst(pools, entry, clock)
      : quoteFirst([format.decode(fixture, entry)], format.trade(entry), clock)
  }

  const outcomeOf = (entry: Entry): keyof Tally => {
    if (oldRounding(entry)) {
      return "skipped"
    }
    const format = formats.find(({ describes }) => describes(entry))
    const given = outcomeFor(entry)
    if ("reason" in given) {
      note(`refused (${given.reason}) ${jsonOf(entry)}`)
      return "refused"
    }
    if ((format?.agrees ?? agrees)(entry, given)) {
      return "exact"
    }
    note(`wrong ${jsonOf(given)} for ${jsonOf(entry)}`)
    return "wrong"
  }

  const outcomeOfError = (entry: Entry): keyof Tally => {
    const given = outcomeFor(entry)
    if ("reason" in given || given.ending !== "filled") {
      return "errorsRefused"
    }
    // DLMM got the bin arrays in the wrong order. With the right order the same swap succeeds.
    if (entry["programError"] === "AccountNotEnoughKeys") {
      return "errorsSkipped"
    }
    note(`filled what the program refused: ${jsonOf(given)} for ${jsonOf(entry)}`)
    return "errorsWrong"
  }

  const outcomes = [...fixture.cases.map(outcomeOf), ...fixture.errors.map(outcomeOfError)]
  const tally: { -readonly [K in keyof Tally]: number } = { ...emptyTally, cases: fixture.cases.length }
  outcomes.forEach((outcome) => (tally[outcome] += 1))
  return tally
}
