/** Reads launches of tokens: lists, and single launches with their first buyers. */
import { Clock, Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { type LaunchDetail, type LaunchRow, LaunchUnknown } from "../../api/schemas/LaunchView.ts"
import { type MarketKnowledge, MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import { progressOf } from "./discovery.ts"
import { statusOf } from "./pages.ts"
import { measureToken, type MeasureContext, type MeasureSources } from "./tokenMeasures.ts"
import { tokenRef, tokensToLoad } from "./tokenRef.ts"
import { lackingAtEnd } from "./tradesCoverage.ts"
import { firstBuyers } from "./firstBuyers.ts"
import { launchPage, type LaunchPageRequest, type LaunchPlace, listedAtMs } from "./launchPage.ts"

/** A page of launches. */
export interface LaunchList extends MarketKnowledge {
  readonly data: ReadonlyArray<LaunchRow>
  readonly next: LaunchPlace | null
}

/** One launch. */
export interface KnownLaunch extends MarketKnowledge {
  readonly data: LaunchDetail
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

/** Reads of launches. `warm` loads tokens whose values are missing. */
export const makeLaunchReads = (
  sources: MeasureSources,
  contextAt: (nowMs: number) => MeasureContext,
  warm: (mints: ReadonlyArray<Mint>) => Effect.Effect<void>
) => {
  const { tape } = sources

  const now = Effect.suspend(() => {
    const isReported = tape.heardAtMs() === null || tape.reportsLaunches()
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

  return { launches, launchOf }
}
