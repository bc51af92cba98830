/** The bus of blocks as one process sees it: whether it answers, takes blocks and gives new ones. */
import { Clock, Effect, Stream } from "effect"
import { noteFailure, type SourceState } from "../../operations/SourceMonitor.ts"
import type { Blocks } from "../../storage/bus/BlockBus.ts"
import { MARKET_STALE_MS } from "./freshness.ts"

/** The bus is stale once it has not answered for this long, in milliseconds. */
const BUS_STALE_MS = 5000

/** What a process knows of the bus. Times are local, in milliseconds since the Unix epoch. */
export interface BusSigns {
  /** The last answer; null before the first. */
  readonly heardAtMs: number | null
  /** The newest block that was read or appended, at first the time at which the process began to look. */
  readonly movedAtMs: number
  /** True from a failed append of this process until any process appends a block. */
  readonly isRefusing: boolean
}

/**
 * The state of the source `bus`. It is stale while the server does not answer, while it takes no block (a full server
 * still answers reads), and while nobody appends one.
 */
export const busState = ({ heardAtMs, isRefusing, movedAtMs }: BusSigns, nowMs: number): SourceState => {
  if (heardAtMs === null) {
    return { observedAtMs: null, status: "unavailable" }
  }
  if (isRefusing || nowMs - heardAtMs > BUS_STALE_MS) {
    return { observedAtMs: Math.min(heardAtMs, movedAtMs), status: "stale" }
  }
  return nowMs - movedAtMs > MARKET_STALE_MS
    ? { observedAtMs: movedAtMs, status: "stale", reason: "source_gap" }
    : { observedAtMs: heardAtMs, status: "known" }
}

/** A bus that notes its signs. `failed` counts the appends that failed since the start. */
export interface WatchedBus<Body> {
  readonly bus: Blocks<Body>
  readonly state: (nowMs: number) => SourceState
  readonly failed: () => number
}

/** Notes what happens to a bus. A failed append is also noted as the last error of the source `bus`. */
export const watchBus = Effect.fnUntraced(function* <Body>(bus: Blocks<Body>): Effect.fn.Return<WatchedBus<Body>> {
  const signs = { movedAtMs: yield* Clock.currentTimeMillis, isRefusing: false, failed: 0 }
  const moved = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    signs.movedAtMs = nowMs
    signs.isRefusing = false
  })
  const failed = (cause: unknown) =>
    Effect.suspend(() => {
      signs.isRefusing = true
      signs.failed++
      return noteFailure("bus", cause)
    })
  return {
    bus: {
      ...bus,
      append: (chain, block) =>
        bus.append(chain, block).pipe(
          Effect.tap(moved),
          Effect.tapErrorTag("BusUnavailable", ({ cause }) => failed(cause))
        ),
      follow: (chain, after) => Stream.tap(bus.follow(chain, after), () => moved)
    },
    state: (nowMs) => busState({ ...signs, heardAtMs: bus.heardAtMs() }, nowMs),
    failed: () => signs.failed
  }
})
