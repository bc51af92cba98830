/** Reads launches of tokens: lists, and single launches with their first buyers. */
import { Cache, Clock, Duration, Effect, Exit } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { FirstBuyersInShort, FirstBuyersOfToken } from "../../api/schemas/FirstBuyers.ts"
import { type LaunchDetail, type LaunchRow, type LaunchSums, LaunchUnknown } from "../../api/schemas/LaunchView.ts"
import { type MarketKnowledge, MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import { COMPLETE, type Coverage, incomplete } from "../../domain/Scalar.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import { progressOf } from "./discovery.ts"
import { statusOf } from "./pages.ts"
import { measureToken, type MeasureContext, type MeasureSources } from "./tokenMeasures.ts"
import { supplyOf, tokenRef, tokensToLoad } from "./tokenRef.ts"
import { lackingAtEnd } from "./tradesCoverage.ts"
import { type BuyerBasis, buyerRows, buyersSummary } from "./buyerViews.ts"
import { firstBuyers, type FirstPurchases, firstPurchases } from "./firstBuyers.ts"
import { launchPage, type LaunchPageRequest, type LaunchPlace, launchSums, listedAtMs } from "./launchPage.ts"

/** A page of launches. */
export interface LaunchList extends MarketKnowledge {
  readonly data: ReadonlyArray<LaunchRow>
  readonly next: LaunchPlace | null
}

/** One launch. */
export interface KnownLaunch extends MarketKnowledge {
  readonly data: LaunchDetail
}

/** The launches of one wallet. */
export interface WalletLaunchList extends LaunchList {
  readonly sums: typeof LaunchSums.Type
}

/** The first buyers of one token. */
export interface KnownFirstBuyers extends MarketKnowledge {
  readonly data: FirstBuyersOfToken
}

/** The first buyers of several tokens in numbers. */
export interface FirstBuyersList extends MarketKnowledge {
  readonly data: ReadonlyArray<FirstBuyersInShort>
}

/** Wallets whose first purchases are searched. */
const MOST_SEARCHED = 50
/** Searches that are kept, and for how long: a whole list changes only when a gap in it is repaired. */
const MOST_KEPT = 2000
const KEPT_WHOLE = Duration.minutes(5)
const KEPT = Duration.seconds(30)
/** Searches of one request at a time. */
const AT_ONCE = 4

const UNSEEN: FirstPurchases = { trades: null, isCut: false, coverage: incomplete("not_captured"), pages: 0 }

/** A search that is kept. */
interface Searched {
  readonly purchases: FirstPurchases
  /** Pages that were read for it and that no request has paid for or is paying for. */
  owed: number
}

const rowOf = (sources: MeasureSources, launch: LaunchRecord, context: MeasureContext): LaunchRow => {
  const { creator, curve, createdAtMs, graduatedAtMs, holderRewards, launchpad, mint, platform, pool, quoteMint } =
    launch
  const { changePct: _changePct, changeSince: _changeSince, ...measures } = measureToken(sources, mint, "24h", context)
  return {
    token: tokenRef(sources, mint),
    launchpad,
    platform,
    quoteMint,
    holderRewards,
    creator,
    curve,
    pool,
    createdAtMs,
    graduatedAtMs,
    curveProgressPct: progressOf(sources, mint, launch, context),
    ...measures
  }
}

const secondOf = (timeMs: number): number => Math.floor(timeMs / 1000)

/** What a token's holders hold; a token that is not followed is suggested. */
const holdingsOf = ({ holders, tokens }: MeasureSources, mint: Mint, nowMs: number): BuyerBasis["holdings"] => {
  const state = tokens.read(mint)
  const lacking =
    state?._tag === "Token" && state.facts !== null
      ? (holders?.suggest(mint, state.facts.tokenProgram, nowMs) ?? null)
      : "not_captured"
  return holders?.knownOf(mint, nowMs) ?? lacking ?? "not_captured"
}

/** Reads of launches. `warm` loads tokens whose values are missing. */
export const makeLaunchReads = Effect.fnUntraced(function* (
  sources: MeasureSources,
  contextAt: (nowMs: number) => MeasureContext,
  warm: (mints: ReadonlyArray<Mint>) => Effect.Effect<void>
) {
  const { tape } = sources

  const searched = yield* Cache.makeWith(
    Effect.fnUntraced(function* (mint: Mint): Effect.fn.Return<Searched> {
      const launch = tape.launches.of(mint)
      const nowMs = yield* Clock.currentTimeMillis
      const purchases = launch === null ? UNSEEN : yield* firstPurchases(tape, launch, MOST_SEARCHED, nowMs)
      return { purchases, owed: purchases.pages }
    }),
    {
      capacity: MOST_KEPT,
      timeToLive: (exit) =>
        Exit.isSuccess(exit) && exit.value.purchases.isCut && exit.value.purchases.coverage.complete ? KEPT_WHOLE : KEPT
    }
  )

  const search = (mint: Mint) => Effect.map(Cache.get(searched, mint), (kept) => [mint, kept] as const)

  const now = Effect.suspend(() => {
    const isReported = tape.reportsLaunches()
    const detail = isReported ? "No block has been read yet." : "The trade feed does not report launches."
    return tape.heardAtMs() !== null && isReported
      ? Clock.currentTimeMillis
      : Effect.fail(new MarketUnavailable({ detail }))
  })

  /** The coverage since the oldest launch of a page; on the last page since the requested beginning. */
  const coverage = (
    { fromMs, toMs }: LaunchPageRequest,
    oldest: LaunchRecord | undefined,
    next: LaunchPlace | null,
    nowMs: number
  ): Coverage => {
    const lacking = lackingAtEnd(tape, toMs, nowMs)
    if (lacking !== null) {
      return incomplete(lacking)
    }
    const isCut = next !== null && oldest !== undefined
    const from = isCut ? secondOf(listedAtMs(oldest)) : fromMs === null ? Number.NEGATIVE_INFINITY : secondOf(fromMs)
    const dropped = tape.launches.droppedToMs
    if (!isCut && dropped !== null && from * 1000 <= dropped) {
      return incomplete("limit_clipped")
    }
    const end = toMs === null ? tape.state.now : Math.min(tape.state.now, secondOf(toMs - 1))
    const { share: _share, ...read } = tape.recordedFrom(from, Math.max(from, end))
    return read
  }

  const launches = Effect.fn("MarketReader.launches")(function* (
    request: LaunchPageRequest
  ): Effect.fn.Return<LaunchList, MarketUnavailable> {
    const nowMs = yield* now
    const context = contextAt(nowMs)
    const { launches: found, next } = launchPage(tape.launches.all(), request)
    const data = found.map((launch) => rowOf(sources, launch, context))
    const covered = coverage(request, found.at(-1), next, nowMs)
    yield* warm(
      tokensToLoad(
        sources,
        data.map(({ liquidityUsd, token }) => [token.address, liquidityUsd.value])
      )
    )
    return {
      data,
      next,
      slot: context.slot,
      observedAtMs: context.life.observedAtMs,
      status: statusOf(covered),
      coverage: covered
    }
  })

  const launchesOf = Effect.fn("MarketReader.launchesOf")(function* (
    creator: Address,
    page: Pick<LaunchPageRequest, "after" | "limit">
  ): Effect.fn.Return<WalletLaunchList, MarketUnavailable> {
    const nowMs = yield* now
    const request = { launchpads: null, platforms: null, graduated: null, fromMs: null, toMs: null }
    const sums = launchSums(tape.launches.all(), creator)
    const list = yield* launches({ ...request, ...page, creator })
    const covered = coverage({ ...request, ...page, creator }, undefined, null, nowMs)
    return { ...list, sums, status: statusOf(covered), coverage: covered }
  })

  const launchOf = Effect.fn("MarketReader.launchOf")(function* (
    mint: Mint
  ): Effect.fn.Return<KnownLaunch, LaunchUnknown | MarketUnavailable> {
    const nowMs = yield* now
    const launch = tape.launches.of(mint)
    if (launch === null) {
      return yield* new LaunchUnknown({ mint })
    }
    yield* warm([mint])
    const buyers = yield* firstBuyers(tape, launch, nowMs)
    const { coverage } = buyers
    // Blocks may have come while the buyers were read. From here on everything is read in one step.
    const context = contextAt(nowMs)
    return {
      data: { ...rowOf(sources, tape.launches.of(mint) ?? launch, context), firstBuyers: buyers },
      slot: context.slot,
      observedAtMs: context.life.observedAtMs,
      status: statusOf(coverage),
      coverage
    }
  })

  /** The first `limit` buyers of a token, with what they hold. */
  const viewOf = (mint: Mint, { isCut, trades }: FirstPurchases, limit: number, { life, nowMs }: MeasureContext) => {
    const launch = tape.launches.of(mint)
    if (launch === null || trades === null) {
      return null
    }
    const basis = { supply: supplyOf(sources, mint)?.units ?? null, holdings: holdingsOf(sources, mint, nowMs), life }
    // Bundles are found among all buyers, also among those after the last one that is listed.
    const rows = buyerRows(launch, trades, basis).slice(0, limit)
    return { rows, summary: buyersSummary(rows, isCut || trades.length > limit, basis) }
  }

  const firstBuyersOf = Effect.fn("MarketReader.firstBuyersOf")(function* (
    mint: Mint,
    limit: number
  ): Effect.fn.Return<KnownFirstBuyers, MarketUnavailable> {
    const nowMs = yield* now
    const kept = yield* Cache.get(searched, mint)
    // The price of one token pays for its pages, however many they are.
    kept.owed = 0
    const found = kept.purchases
    yield* warm([mint])
    const context = contextAt(nowMs)
    const launch = tape.launches.of(mint)
    const { rows = null, summary = null } = viewOf(mint, found, limit, context) ?? {}
    const { coverage } = found
    return {
      data: {
        token: tokenRef(sources, mint),
        creator: launch?.creator ?? null,
        createdAtMs: launch?.createdAtMs ?? null,
        summary,
        rows
      },
      slot: context.slot,
      observedAtMs: context.life.observedAtMs,
      status: statusOf(coverage),
      coverage
    }
  })

  const firstBuyersOfMany = Effect.fn("MarketReader.firstBuyersOfMany")(function* <E>(
    mints: ReadonlyArray<Mint>,
    limit: number,
    paid: (pages: number) => Effect.Effect<void, E>
  ): Effect.fn.Return<FirstBuyersList, MarketUnavailable | E> {
    const nowMs = yield* now
    const found: Array<readonly [Mint, Searched]> = []
    const claimed = new Map<Searched, number>()
    yield* Effect.gen(function* () {
      for (let at = 0; at < mints.length; at += AT_ONCE) {
        const group = yield* Effect.forEach(mints.slice(at, at + AT_ONCE), search, { concurrency: AT_ONCE })
        found.push(...group)
        // Claimed at once, so that no other request pays for the same pages.
        for (const [, kept] of group) {
          claimed.set(kept, (claimed.get(kept) ?? 0) + kept.owed)
          kept.owed = 0
        }
        // What has been read is kept, so that a request that cannot pay begins there when it comes again.
        yield* paid(Array.from(claimed.values()).reduce((sum, pages) => sum + pages, 0))
      }
    }).pipe(
      // A group that cannot be paid takes back what was paid for the groups before it.
      Effect.onError(() => Effect.sync(() => claimed.forEach((pages, kept) => (kept.owed += pages))))
    )
    yield* warm(mints.filter((mint) => sources.tokens.read(mint) === null))
    const context = contextAt(nowMs)
    const data = found.map(([address, { purchases }]) => ({
      address,
      summary: viewOf(address, purchases, limit, context)?.summary ?? null,
      coverage: purchases.coverage
    }))
    const coverage = data.find((row) => !row.coverage.complete)?.coverage ?? COMPLETE
    return {
      data,
      slot: context.slot,
      observedAtMs: context.life.observedAtMs,
      status: statusOf(coverage),
      coverage
    }
  })

  return { launches, launchesOf, launchOf, firstBuyersOf, firstBuyersOfMany }
})
