/** Runs the route of a quote as one transaction, with the programs of its hops. */
import { Duration, Effect, Option, Result, Schedule } from "effect"
import type { Hop, SpotQuote } from "../../api/schemas/Quote.ts"
import type { RouteSimulation } from "../../api/schemas/RouteSimulation.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import type { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Simulate } from "../ExecutedQuotes.ts"
import type { PoolBook } from "../pools/PoolBook.ts"
import type { HeldPool } from "../pools/PoolCache.ts"
import { derive } from "./decodeFixture.ts"
import { executedVenues } from "./executedVenues.ts"
import { ExecutionRefused, type Executor, type PlannedHop } from "./Executor.ts"
import type { SwapResult } from "./executeSwap.ts"
import type { Site, Venue } from "./swapVenue.ts"
import { venues } from "./swapVenues.ts"

/** How long a simulation may take, with the programs' bytes and accounts that are read for it. */
const DEADLINE = Duration.seconds(3)
/** Pause before bytes that are being read are looked at again. */
const PAUSE = Duration.millis(50)
/** Rounds in which an account may name further ones. */
const ROUNDS = 3

const NOTHING = { atSlot: null, hops: [], outAmount: null, computeUnits: null, differsAt: null }

/** The answer when nothing ran. */
export const notExecuted = (detail: string): RouteSimulation => ({ ...NOTHING, state: "not_executed", detail })

const refuse = (detail: string) => new ExecutionRefused({ detail, retryInMs: null })

const venueOf = ({ program }: HeldPool): Venue | undefined =>
  [...venues, ...executedVenues].find((venue) => venue.program.programId === program.programId)

/** The accounts that a swap in the pool names and that are not held, as far as the known ones say. */
const lacking = (venue: Venue, { accounts, address, foundBy }: HeldPool): ReadonlyArray<Address> => {
  const pool = accounts.get(address)
  if (!pool) {
    return []
  }
  const site: Site = { pool, accounts: (one) => accounts.get(one), derive, foundBy }
  const needed = [
    ...Object.values(venue.sides(site) ?? {}),
    ...venue.program.needs(pool, site.accounts, derive, foundBy),
    ...venue.swapNeeds(site)
  ]
  return [...new Set(needed)].filter((one) => !accounts.has(one))
}

/** What the programs did, beside the quote. */
const compared = (quote: SpotQuote, results: ReadonlyArray<SwapResult>, atSlot: number): RouteSimulation => {
  const hops = results.flatMap((result, index) => {
    const hop = quote.route[index]
    return "error" in result || hop === undefined
      ? []
      : [{ dex: hop.dex, pool: hop.pool, amountIn: result.amountIn, amountOut: result.amountOut }]
  })
  const failedAt = results.findIndex((result) => "error" in result)
  const failed = results[failedAt]
  if (failed !== undefined && "error" in failed) {
    const detail = `Hop ${failedAt} (${quote.route[failedAt]?.dex ?? ""}) was refused by its program: ${failed.error}.`
    return { ...NOTHING, state: "failed", atSlot, hops, differsAt: failedAt, detail }
  }
  const at = hops.findIndex(({ amountIn, amountOut }, index) => {
    const hop: Hop | undefined = quote.route[index]
    return hop === undefined || hop.amountIn !== amountIn || hop.amountOut !== amountOut
  })
  const [hop, paid] = [quote.route[at], hops[at]]
  return {
    state: at === -1 ? "executed" : "differs",
    atSlot,
    hops,
    outAmount: hops
      .filter((_, index) => quote.route[index]?.outputMint === quote.outputMint)
      .reduce((sum, { amountOut }) => sum + amountOut, 0n),
    computeUnits: results.at(-1)?.units ?? null,
    differsAt: at === -1 ? null : at,
    detail:
      hop === undefined || paid === undefined
        ? null
        : `Hop ${at} (${hop.dex}) was quoted ${hop.amountIn} for ${hop.amountOut}; its program took ${paid.amountIn} and paid ${paid.amountOut}.`
  }
}

/** Makes the simulation of routes. Accounts that only swaps need are read from the node. */
export const simulateRoutes = (
  executor: Pick<Executor["Service"], "executePlan">,
  feed: Pick<ChainFeed["Service"], "clock" | "read">,
  book: Pick<PoolBook["Service"], "held">
): Simulate => {
  /** The pool with every account of its swap. Held accounts count; the others are read. */
  const complete = Effect.fnUntraced(function* (venue: Venue, held: HeldPool) {
    const accounts = new Map<Address, OnChainAccount | null>(held.accounts)
    const pool: HeldPool = { ...held, accounts, missing: null }
    for (let round = 0; round < ROUNDS; round++) {
      const wanted = lacking(venue, pool)
      if (wanted.length === 0) {
        break
      }
      const read = yield* Effect.mapError(feed.read(wanted), () =>
        refuse("accounts of its swaps could not be read from the node")
      )
      wanted.forEach((address) => accounts.set(address, read.accounts.get(address) ?? null))
    }
    return pool
  })

  const planned = Effect.fnUntraced(function* (
    { amountIn, amountOut, dex, inputMint, pool: address }: Hop,
    exactOut: boolean
  ) {
    const held = book.held(address)
    const venue = held === null ? undefined : venueOf(held)
    if (held === null || venue === undefined) {
      return yield* refuse(`the accounts of pool ${address} (${dex}) are not held`)
    }
    const pool = yield* complete(venue, held)
    const order = { aToB: held.mints[0] === inputMint, exactOut, amount: exactOut ? amountOut : amountIn }
    return { pool, order } satisfies PlannedHop
  })

  const run = Effect.fnUntraced(function* (quote: SpotQuote) {
    const clock = feed.clock()
    const hops = yield* Effect.forEach(quote.route, (hop) => planned(hop, quote.swapMode === "exactOut"))
    const results = yield* executor.executePlan(hops, quote.inAmount, clock).pipe(
      Effect.retry({
        while: ({ retryInMs }) => retryInMs !== null,
        schedule: Schedule.spaced(PAUSE)
      })
    )
    return compared(quote, results, clock.slot)
  })

  return (quote) =>
    Effect.result(run(quote)).pipe(
      Effect.timeoutOption(DEADLINE),
      Effect.map((ended) => {
        if (Option.isNone(ended)) {
          return notExecuted("The programs were not executed in time.")
        }
        return Result.isSuccess(ended.value) ? ended.value.success : notExecuted(`${ended.value.failure.detail}.`)
      })
    )
}
