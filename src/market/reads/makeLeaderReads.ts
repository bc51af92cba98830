/** Reads of the wallets that lead a window. */
import { Clock, Duration, Effect, Semaphore } from "effect"
import type { TraderWindow } from "../../api/schemas/TopTraders.ts"
import { type MarketKnowledge, ViewExpired } from "../../api/schemas/MarketViews.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"
import { type Pin, PinnedViews } from "../memory/PinnedViews.ts"
import { rankingFrom } from "../memory/Traders.ts"
import type { WalletSums } from "../memory/WalletSums.ts"
import type { Market } from "../tape/Market.ts"
import { statusOf } from "./pages.ts"
import type { PageRequest } from "./rankedPages.ts"
import type { MeasureContext } from "./tokenMeasures.ts"
import { type LeaderSelectors, type RankedLeaders, walletLeaders } from "./walletLeaders.ts"

/** Selects a ranking. */
export interface LeadersRequest extends LeaderSelectors, PageRequest {
  readonly window: TraderWindow
}

/** A page of leaders. */
export interface LeadersPage extends RankedLeaders, MarketKnowledge {
  readonly next: Pin | null
  readonly windowFromMs: number | null
  readonly windowToMs: number
}

/** Pages can be read for a minute after the first page. First pages of the same sums share a view. */
const LIMITS = { lifeMs: 60_000, most: 32, sharedMs: 60_000 }
/**
 * The sums of all wallets serve every order of a window for twenty times as long as they took, within these bounds: so they never
 * take more than a twentieth of the time.
 */
const KEPT = { times: 20, leastMs: 2000, mostMs: 60_000 }

interface Summed extends MarketKnowledge {
  /** Counts the sums of this process. */
  readonly number: number
  readonly sums: WalletSums
  readonly windowFromMs: number | null
  readonly windowToMs: number
}

type View = Omit<Summed, "number" | "sums"> & { readonly of: RankedLeaders }

/** Every trade of the window was seen, and no wallet of it was forgotten to make room. */
const coverageOf = ({ coverageFrom, state }: Market["Service"], from: number | null, nowMs: number): Coverage => {
  if (from === null) {
    return incomplete("not_captured")
  }
  const { share: _share, ...covered } = coverageFrom(from, nowMs)
  return covered.complete && from < state.heldFrom ? incomplete("limit_clipped") : covered
}

export const makeLeaderReads = Effect.fnUntraced(function* (
  tape: Market["Service"],
  contextAt: (nowMs: number) => MeasureContext
) {
  const views = new PinnedViews<View>(crypto.randomUUID(), LIMITS)
  const making = yield* Semaphore.make(1)
  const scope = yield* Effect.scope
  const summed = new Map<TraderWindow, Summed>()
  let made = 0

  const sum = Effect.fnUntraced(function* (window: TraderWindow, nowMs: number) {
    const known = summed.get(window)
    if (known !== undefined) {
      return known
    }
    const { life, slot } = contextAt(nowMs)
    const from = rankingFrom(window, tape.state.now)
    const [windowToMs, coverage] = [tape.state.now * 1000, coverageOf(tape, from, nowMs)]
    const steps = tape.state.walletSums(window)
    let step = steps.next()
    while (step.done !== true) {
      yield* Effect.andThen(ownTurn, tape.whole)
      // If a block has begun all the same, reading the state applies the rest of it, so that no step sees part of it.
      yield* Effect.sync(() => tape.state.now)
      step = steps.next()
    }
    const endMs = yield* Clock.currentTimeMillis
    const found = {
      number: ++made,
      sums: step.value,
      windowFromMs: from === null ? null : from * 1000,
      windowToMs,
      // Blocks that were applied meanwhile are in the sums of some tokens and not of others.
      slot: contextAt(endMs).slot === slot ? slot : null,
      observedAtMs: life.observedAtMs,
      status: statusOf(coverage),
      coverage
    }
    summed.set(window, found)
    const keptMs = Math.min(KEPT.mostMs, Math.max(KEPT.leastMs, KEPT.times * (endMs - nowMs)))
    yield* Effect.sleep(Duration.millis(keptMs)).pipe(
      Effect.andThen(Effect.sync(() => summed.delete(window))),
      Effect.forkIn(scope)
    )
    return found
  })

  const open = Effect.fnUntraced(function* (request: LeadersRequest, nowMs: number) {
    const { number, sums, ...known } = yield* sum(request.window, nowMs)
    const key = [number, request.sort, request.minKnownPct, request.minTrades].join(" ")
    return views.recent(key, nowMs) ?? views.add(key, nowMs, { ...known, of: yield* walletLeaders(sums, request) })
  })

  /** A page as of `nowMs`. */
  return Effect.fnUntraced(function* (
    request: LeadersRequest,
    nowMs: number
  ): Effect.fn.Return<LeadersPage, ViewExpired> {
    const { limit, pin } = request
    // Several callers that wait share the sums.
    const opened =
      pin === null ? yield* making.withPermits(1)(open(request, nowMs)) : { pin, view: views.get(pin, nowMs) }
    if (opened.view === null) {
      return yield* new ViewExpired()
    }
    const { of: ranking, ...known } = opened.view
    const place = opened.pin.place + limit
    return {
      ...known,
      ...ranking,
      rows: ranking.rows.slice(opened.pin.place, place),
      next: place < ranking.rows.length ? { ...opened.pin, place } : null
    }
  })
})
