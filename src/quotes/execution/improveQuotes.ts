/** Routes over executed venues: which to try, and what their programs pay. */
import { Duration, Effect, Option, Result } from "effect"
import { NotExecuted, type QuoteRequest } from "../../api/schemas/Quote.ts"
import type { Mint } from "../../domain/Address.ts"
import { SOL } from "../../domain/Address.ts"
import type { Pool, Rate } from "../../programs/interface/Program.ts"
import { attempt, impactAgainst, rateOf } from "../bestDirect.ts"
import { bestPath, type Step, type Trade } from "../bestPath.ts"
import { netOfSolFee, poolFilter } from "../directRoute.ts"
import type { ExecutedTerms, Found, Improve } from "../ExecutedQuotes.ts"
import type { PoolBook } from "../pools/PoolBook.ts"
import type { HeldPool } from "../pools/PoolCache.ts"
import { tradeOf } from "../routedQuote.ts"
import { feeBasisOf, type Moment, type PricedRoute, type RouteSwap } from "../spotQuote.ts"
import { ExecutionRefused, type Executor } from "./Executor.ts"
import { type CurveBook, type PoolCurves } from "./PoolCurves.ts"
import { estimate, mostFor, type PriceCurve, smallestRate } from "./priceCurve.ts"

export const EXECUTED_ENGINE = "executed"

/** How long a quote waits for executions: when it has an answer without them, and when it has none. */
const DEADLINE = { answered: Duration.millis(100), unanswered: Duration.seconds(1) }
/** Most routes that one quote executes. */
const MOST_ROUTES = 4

type Book = PoolBook["Service"]

/** One swap of a route that is tried. */
type Leg = { readonly inputMint: Mint; readonly held: HeldPool } | { readonly inputMint: Mint; readonly native: Pool }

/** What a route paid. */
interface Paid {
  readonly route: ReadonlyArray<RouteSwap>
  readonly gross: bigint
  readonly isExhausted: boolean
  readonly stateSlot: number
  readonly rate: Rate
}

interface Failed {
  readonly held: HeldPool
  readonly refusal: ExecutionRefused
}

const trades = ({ mints }: HeldPool, a: Mint, b: Mint): boolean =>
  (mints[0] === a && mints[1] === b) || (mints[0] === b && mints[1] === a)

const sellsA = ({ mints }: HeldPool, inputMint: Mint): boolean => mints[0] === inputMint

const slotOf = ({ accounts }: HeldPool): number =>
  Array.from(accounts.values()).reduce((newest, account) => Math.max(newest, account?.slot ?? 0), 0)

const ONE: Rate = { numerator: 1n, denominator: 1n }

const times = (a: Rate, b: Rate): Rate => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator
})

/** True when a found answer may be replaced: a route, or no route among the pools that are computed here. */
const mayReplace = (found: Found): boolean =>
  !("_tag" in found) || ["NoRoute", "RouteNotSupported", "PoolsNotSearched"].includes(found._tag)

/** What the trader gets of a payout, after the fee. */
const netOf = ({ outputMint }: QuoteRequest, { feeBps }: ExecutedTerms, gross: bigint): bigint =>
  outputMint === SOL ? netOfSolFee(gross, feeBps) : gross

/** A pool whose swaps are estimates, so that a search over paths can use it. */
const surrogate = ({ aToB, bToA, pool }: PoolCurves): Pool => {
  const curve = (isAToB: boolean): PriceCurve => (isAToB ? aToB : bToA)
  return {
    address: pool.address,
    dex: pool.program.dex,
    mintA: pool.mints[0],
    mintB: pool.mints[1],
    slot: slotOf(pool),
    swap: (isAToB, amountIn) => {
      const amountOut = estimate(curve(isAToB), amountIn)
      const most = curve(isAToB).points.at(-1)?.amountIn ?? 0n
      return { ending: amountOut === 0n ? "refused" : amountIn > most ? "exhausted" : "filled", amountIn, amountOut }
    },
    marginalRate: (isAToB) => smallestRate(curve(isAToB))
  }
}

const stepsOf = (last: Step): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  for (let at: Step | undefined = last; at?.via; at = at.via.from) {
    steps.unshift(at)
  }
  return steps
}

/** The best path over native pools and samples of executed ones, if it passes an executed pool and has several hops. */
const sampledPath = (
  book: Book,
  trade: Trade,
  known: ReadonlyArray<PoolCurves>,
  passes: (pool: Pool) => boolean,
  { clock }: Moment
): ReadonlyArray<Leg> | null => {
  const pools = known.map(surrogate).filter(passes)
  const heldBy = new Map(known.map(({ pool }) => [pool.address, pool]))
  const graph = {
    partnersOf: (mint: Mint) => book.graph.partnersOf(mint),
    poolsBetween: (a: Mint, b: Mint) => [
      ...book.graph.poolsBetween(a, b).filter(passes),
      ...pools.filter(({ mintA, mintB }) => (mintA === a && mintB === b) || (mintA === b && mintB === a))
    ]
  }
  const last = bestPath(graph, trade, clock)
  const legs = (last === null ? [] : stepsOf(last)).flatMap(({ via }): ReadonlyArray<Leg> => {
    if (via === null) {
      return []
    }
    const held = heldBy.get(via.pool.address)
    const inputMint = via.from.mint
    return [held === undefined ? { inputMint, native: via.pool } : { inputMint, held }]
  })
  return legs.length > 1 && legs.some((leg) => "held" in leg) ? legs : null
}

/** A paid route as a quote's parts. */
const pricedRoute = (
  request: QuoteRequest,
  { gross, isExhausted, rate, route, stateSlot }: Paid,
  terms: ExecutedTerms
): PricedRoute => ({
  engine: EXECUTED_ENGINE,
  route,
  inAmount: request.amount,
  outAmount: netOf(request, terms, gross),
  priceImpactPct: isExhausted ? null : impactAgainst(rate, request.amount, gross),
  clamped: isExhausted,
  stateSlot,
  feeBasis: feeBasisOf(request, terms.feeBps)
})

/** The refusal of a pair that only executed venues trade. */
const refusalOf = (found: Found, [first]: ReadonlyArray<Failed>): Found =>
  first === undefined || !("_tag" in found)
    ? found
    : new NotExecuted({
        pool: first.held.address,
        dex: first.held.program.dex,
        detail: first.refusal.detail,
        retryInMs: first.refusal.retryInMs
      })

/** Makes the search for routes over executed venues. `later` runs a sample that nobody waits for. */
export const improveQuotes = (
  executor: Pick<Executor["Service"], "execute">,
  curves: CurveBook,
  later: (sample: Effect.Effect<unknown>) => void
): Improve => {
  /** Has curves of an older state sampled again. */
  const renew = (pools: ReadonlyArray<HeldPool>, { clock }: Moment): void => {
    for (const pool of pools.filter((one) => curves.isOld(one))) {
      later(Effect.ignore(curves.sample(pool, clock, "sample")))
    }
  }

  const runLeg = Effect.fnUntraced(function* (leg: Leg, amount: bigint, { clock }: Moment) {
    if ("native" in leg) {
      const { native } = leg
      const swap = attempt(native, leg.inputMint, amount, clock)
      return {
        swap,
        slot: native.slot,
        dex: native.dex,
        pool: native.address,
        executed: {},
        rate: rateOf(native, leg.inputMint, clock)
      }
    }
    const { held, inputMint } = leg
    const aToB = sellsA(held, inputMint)
    const [result] = yield* executor.execute(held, [{ aToB, exactOut: false, amount }], clock)
    if (result === undefined || "error" in result) {
      const detail = `its program refuses this swap: ${result?.error ?? "no result"}`
      return yield* new ExecutionRefused({ detail, retryInMs: null })
    }
    const known = curves.read(held)
    return {
      swap: {
        ending:
          result.amountOut === 0n
            ? ("refused" as const)
            : result.amountIn < amount
              ? ("exhausted" as const)
              : ("filled" as const),
        amountIn: result.amountIn,
        amountOut: result.amountOut
      },
      slot: slotOf(held),
      dex: held.program.dex,
      pool: held.address,
      executed: { computeUnits: result.units, executedAtSlot: clock.slot },
      rate: known === undefined ? { numerator: 0n, denominator: 0n } : smallestRate(aToB ? known.aToB : known.bToA)
    }
  })

  /** Executes a route hop by hop: each takes what the one before it paid. */
  const runRoute = Effect.fnUntraced(function* (legs: ReadonlyArray<Leg>, request: QuoteRequest, moment: Moment) {
    const route: Array<RouteSwap> = []
    let paid = { gross: request.amount, isExhausted: false, stateSlot: Number.MAX_SAFE_INTEGER, rate: ONE }
    for (const [index, leg] of legs.entries()) {
      const { dex, executed, pool, rate, slot, swap } = yield* runLeg(leg, paid.gross, moment)
      if (swap.ending === "refused") {
        return null
      }
      const outputMint = legs[index + 1]?.inputMint ?? request.outputMint
      const { amountIn, amountOut } = swap
      route.push({
        dex,
        inputMint: leg.inputMint,
        outputMint,
        pool,
        percent: 100,
        amountIn,
        amountOut,
        priceImpactPct: swap.ending === "filled" ? impactAgainst(rate, amountIn, amountOut) : null,
        ...executed
      })
      paid = {
        gross: amountOut,
        isExhausted: paid.isExhausted || swap.ending === "exhausted",
        stateSlot: Math.min(paid.stateSlot, slot),
        rate: times(paid.rate, rate)
      }
    }
    return { ...paid, route } satisfies Paid
  })

  /** The direct pools that may pay more than `least`, probably best first. A pool without a curve is sampled first. */
  const promising = Effect.fnUntraced(function* (
    direct: ReadonlyArray<HeldPool>,
    { amount, inputMint }: QuoteRequest,
    moment: Moment,
    most: (gross: bigint) => boolean
  ) {
    const failed: Array<Failed> = []
    const found: Array<{ readonly held: HeldPool; readonly estimated: bigint }> = []
    const sampled = yield* Effect.forEach(
      direct,
      (held) =>
        Effect.result(
          Effect.suspend(() => {
            const known = curves.read(held)
            return known === undefined ? curves.sample(held, moment.clock, "quote") : Effect.succeed(known)
          })
        ),
      { concurrency: "unbounded" }
    )
    direct.forEach((held, index) => {
      const result = sampled[index]
      if (result === undefined || Result.isFailure(result)) {
        return result === undefined ? undefined : failed.push({ held, refusal: result.failure })
      }
      const curve = sellsA(held, inputMint) ? result.success.aToB : result.success.bToA
      if (curve.error !== null) {
        const detail = `its program refuses every swap: ${curve.error}`
        return failed.push({ held, refusal: new ExecutionRefused({ detail, retryInMs: null }) })
      }
      return most(mostFor(curve, amount)) ? found.push({ held, estimated: estimate(curve, amount) }) : undefined
    })
    return { failed, pools: found.toSorted((a, b) => (a.estimated > b.estimated ? -1 : 1)).map(({ held }) => held) }
  })

  const search = Effect.fnUntraced(function* (
    direct: ReadonlyArray<HeldPool>,
    longer: ReadonlyArray<Leg> | null,
    request: QuoteRequest,
    found: Found,
    moment: Moment,
    terms: ExecutedTerms
  ) {
    const least = "_tag" in found ? 0n : found.outAmount
    const isBetter = (gross: bigint): boolean => netOf(request, terms, gross) > least
    const { failed, pools } = yield* promising(direct, request, moment, isBetter)
    const routes: ReadonlyArray<ReadonlyArray<Leg>> = [
      ...(longer === null ? [] : [longer]),
      ...pools.map((held) => [{ inputMint: request.inputMint, held }])
    ]
    const results = yield* Effect.forEach(
      routes.slice(0, MOST_ROUTES),
      (legs) => Effect.result(runRoute(legs, request, moment)),
      { concurrency: "unbounded" }
    )
    let best: Paid | null = null
    results.forEach((result, index) => {
      if (Result.isSuccess(result)) {
        const paid = result.success
        best = paid !== null && (best === null || paid.gross > best.gross) ? paid : best
        return
      }
      const leg = routes[index]?.find((one) => "held" in one)
      if (leg !== undefined && "held" in leg) {
        failed.push({ held: leg.held, refusal: result.failure })
      }
    })
    return { best: best as Paid | null, failed }
  })

  return (book, request, found, moment, terms) => {
    const { inputMint, outputMint } = request
    if (request.swapMode === "exactOut" || !mayReplace(found)) {
      return null
    }
    const near = [...book.executedOf(inputMint), ...book.executedOf(outputMint)]
    const along = "_tag" in found || terms.isDirect ? [] : found.route.flatMap((hop) => book.executedOf(hop.outputMint))
    if (near.length + along.length === 0) {
      return null
    }
    const passes = poolFilter(request) ?? (() => true)
    const isServed = (held: HeldPool): boolean => passes({ address: held.address, dex: held.program.dex })
    const reachable = [...new Set([...near, ...along])].filter(isServed)
    const direct = reachable.filter((held) => trades(held, inputMint, outputMint))
    const trade = tradeOf(request)
    renew(terms.isDirect ? direct : reachable, moment)
    const sampled = reachable.flatMap((held) => curves.read(held) ?? [])
    const longer = terms.isDirect || trade.maxHops < 2 ? null : sampledPath(book, trade, sampled, passes, moment)
    if (direct.length === 0 && longer === null) {
      return null
    }
    const isAnswered = !("_tag" in found)
    return search(direct, longer, request, found, moment, terms).pipe(
      Effect.timeoutOption(isAnswered ? DEADLINE.answered : DEADLINE.unanswered),
      Effect.map((ended): Found => {
        if (Option.isNone(ended)) {
          const [held] = direct
          const refusal = new ExecutionRefused({ detail: "its program was not executed in time", retryInMs: 1000 })
          return refusalOf(found, held === undefined ? [] : [{ held, refusal }])
        }
        const { best, failed } = ended.value
        const paid = best === null || best.gross === 0n ? null : pricedRoute(request, best, terms)
        const isMore = paid !== null && (!isAnswered || isBetterRoute(paid, found))
        return isMore ? paid : refusalOf(found, failed)
      })
    )
  }
}

/** A route that takes the whole amount wins over one that does not, then the one that pays more. */
const isBetterRoute = (paid: PricedRoute, found: Found): boolean => {
  if ("_tag" in found || paid.clamped !== found.clamped) {
    return "_tag" in found || found.clamped
  }
  return paid.outAmount > found.outAmount
}
