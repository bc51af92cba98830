import { Clock, type Config, Context, Duration, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import { countSetting } from "../domain/countSetting.ts"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import { noteFailure, SourceMonitor, type SourceState } from "../operations/SourceMonitor.ts"
import { Market } from "../market/tape/Market.ts"
import { ChainUnavailable } from "../chain/ChainUnavailable.ts"
import { TokenAccounts } from "../chain/rpc/TokenAccounts.ts"
import { BALANCE_LENGTH, TOKEN_PROGRAMS, unitsByMint } from "../chain/rpc/TokenAccounts.ts"
import { AccountsRead } from "./wholeEvents.ts"

/**
 * `waiting` until the accounts are read, `unavailable` when the node does not give them. `named` means that
 * transactions name every account of a wallet, so that nothing has to be read.
 */
export type AccountsState = AccountsRead | "waiting" | "unavailable" | "named"

/**
 * Token accounts of wallets, read from the node in the background, because a block names only the accounts that a
 * transaction touches. A wallet is read when it is requested; no caller waits. At most 20,000 wallets are in memory.
 * The wallet that was requested longest ago is dropped first.
 */
export class WalletAccounts extends Context.Service<
  WalletAccounts,
  {
    /** The last read of a wallet, or the reason why there is none. */
    of(wallet: Address): AccountsState
    /** Requests reads of wallets that were not read yet. */
    ask(wallets: Iterable<Address>): void
    /** Requests a new read. Until then the wallet is `waiting`. */
    again(wallet: Address): void
    /** Requests a new read of a tracked wallet. It comes before the reads that callers requested, however many wait. */
    againFirst(wallet: Address): void
    /** Withdraws the request of `againFirst`, because the wallet is no longer tracked. */
    withdraw(wallet: Address): void
    /** Drops everything that was read, because another chain follows. */
    startAnew(): void
  }
>()("fathom/wallets/WalletAccounts") {
  /** For markets whose node cannot list accounts: a wallet has the accounts that transactions name, and no others. */
  static readonly layerNamed: Layer.Layer<WalletAccounts> = Layer.succeed(WalletAccounts, {
    of: () => "named",
    ask: () => undefined,
    again: () => undefined,
    againFirst: () => undefined,
    withdraw: () => undefined,
    startAnew: () => undefined
  })

  /** Reads at most `WALLET_ACCOUNTS_RATE` (5) wallets a second. With 0 none is read, and no balance is known. */
  static readonly layer: Layer.Layer<WalletAccounts, Config.ConfigError, TokenAccounts | Market> = Layer.effect(
    WalletAccounts,
    Effect.gen(function* () {
      const rate = yield* accountsRate
      const node = yield* TokenAccounts
      const tape = yield* Market
      const clock = yield* Clock.Clock
      const reads = new AccountReads()
      const step = Effect.fnUntraced(function* (): Effect.fn.Return<Duration.Duration> {
        const atMs = yield* Clock.currentTimeMillis
        const wallet = reads.next(atMs)
        if (wallet === null) {
          return IDLE
        }
        const { era } = reads
        yield* tape.whole
        const chainMs = tape.state.now * 1000
        const read = readOne(node, wallet).pipe(
          Effect.map((programs) => reads.keep(wallet, era, new AccountsRead(programs, { atMs, chainMs }))),
          Effect.as(Duration.millis(1000 / rate)),
          Effect.catch((failure) =>
            Effect.gen(function* () {
              const isRefused = failure.reason === "invalid"
              const pause = Duration.millis(failure.retryAfterMs ?? 0)
              if (isRefused) {
                reads.refuse(wallet, atMs)
              } else {
                reads.postpone(wallet, yield* Clock.currentTimeMillis)
              }
              yield* Effect.logWarning("Token accounts of a wallet cannot be read", failure)
              yield* noteFailure(SOURCE, failure)
              return isRefused ? Duration.millis(1000 / rate) : Duration.max(UNAVAILABLE_PAUSE, pause)
            })
          )
        )
        return yield* read
      })
      const loop = Effect.suspend(step).pipe(
        keepGoing("Reading token accounts of wallets"),
        Effect.flatMap((pause) => Effect.sleep(pause ?? IDLE)),
        Effect.forever
      )
      if (rate > 0) {
        yield* loop.pipe(keepRunning("Reading token accounts of wallets", SOURCE), Effect.forkScoped)
        yield* (yield* SourceMonitor).report(SOURCE, () => reads.state())
      }
      return WalletAccounts.of({
        of: (wallet) => (rate === 0 ? "unavailable" : reads.of(wallet)),
        ask: (wallets) => (rate === 0 ? undefined : reads.ask(wallets, clock.currentTimeMillisUnsafe())),
        again: (wallet) => (rate === 0 ? undefined : reads.again(wallet)),
        againFirst: (wallet) => (rate === 0 ? undefined : reads.againFirst(wallet)),
        withdraw: (wallet) => reads.withdraw(wallet),
        startAnew: () => reads.startAnew()
      })
    })
  )
}

/** `WALLET_ACCOUNTS_RATE` (5): wallets a second whose token accounts are read. */
export const accountsRate: Config.Config<number> = countSetting("WALLET_ACCOUNTS_RATE", 5)

const SOURCE = "wallet_accounts"
const IDLE = Duration.millis(100)
const UNAVAILABLE_PAUSE = Duration.seconds(5)
/** A wallet that the node refused to read is read again after this time, when it is requested. */
const REFUSED_MS = 600_000
/**
 * A wallet whose read failed for another reason comes after all others for this time: the wallet itself may be the
 * reason.
 */
const POSTPONED_MS = 30_000
const MOST_WALLETS = 20_000
/**
 * At most this many wallets that callers requested wait to be read. Further wallets are taken up when they are
 * requested again.
 */
const MOST_WAITING = 10_000

/** The accounts of a wallet under both token programs. */
const readOne = Effect.fnUntraced(function* (
  node: TokenAccounts["Service"],
  owner: Address
): Effect.fn.Return<ConstructorParameters<typeof AccountsRead>[0], ChainUnavailable> {
  const programs = []
  for (const program of TOKEN_PROGRAMS) {
    const { accounts, slot } = yield* node.ofOwner({ owner, program, length: BALANCE_LENGTH })
    const units = unitsByMint(owner, accounts)
    if (units === null) {
      return yield* new ChainUnavailable({ reason: "invalid", detail: "token accounts of another owner" })
    }
    programs.push({ slot, units })
  }
  return programs
})

/** The last failed read of a wallet that waits. */
interface FailedRead {
  /** Until this time, all other wallets come first. */
  readonly untilMs: number
  /** True while every wallet that has not failed comes first. */
  readonly isBehind: boolean
  /** True once another wallet was read after a failure: the next failure is the fault of this wallet alone. */
  readonly isAlone: boolean
}

/** The wallets that were read, and the wallets that wait. */
class AccountReads {
  readonly #known = new Map<Address, AccountsRead>()
  /** Tracked wallets that wait. Their number is not bounded here. */
  readonly #first = new Set<Address>()
  readonly #waiting = new Set<Address>()
  readonly #refusedAtMs = new Map<Address, number>()
  /** Wallets that wait after a failed read. */
  readonly #failed = new Map<Address, FailedRead>()
  #okAtMs: number | null = null
  #isFailing = false
  /** Grows with each new chain. A read that began in an earlier era does not count. */
  era = 0

  of(wallet: Address): AccountsState {
    if (this.#first.has(wallet) || this.#waiting.has(wallet)) {
      return "waiting"
    }
    return this.#known.get(wallet) ?? (this.#refusedAtMs.has(wallet) ? "unavailable" : "waiting")
  }

  ask(wallets: Iterable<Address>, nowMs: number): void {
    for (const wallet of wallets) {
      const known = this.#known.get(wallet)
      if (known !== undefined) {
        this.#known.delete(wallet)
        this.#known.set(wallet, known)
      } else if (nowMs - (this.#refusedAtMs.get(wallet) ?? Number.NEGATIVE_INFINITY) >= REFUSED_MS) {
        this.again(wallet)
      }
    }
  }

  again(wallet: Address): void {
    if (this.#waiting.size < MOST_WAITING) {
      this.#waiting.add(wallet)
    }
  }

  againFirst(wallet: Address): void {
    this.#first.add(wallet)
  }

  withdraw(wallet: Address): void {
    this.#first.delete(wallet)
    if (!this.#waiting.has(wallet)) {
      this.#failed.delete(wallet)
    }
  }

  /**
   * The tracked wallet that has waited longest, else another wallet that waits, else a wallet whose read has failed.
   */
  next(nowMs: number): Address | null {
    const due = (isBehind: boolean) =>
      this.#inTurn().find((wallet) => {
        const failed = this.#failed.get(wallet)
        return (failed?.isBehind ?? false) === isBehind && nowMs >= (failed?.untilMs ?? nowMs)
      })
    return due(false) ?? due(true) ?? this.#inTurn().next().value ?? null
  }

  *#inTurn(): Generator<Address, undefined> {
    yield* this.#first
    yield* this.#waiting
  }

  keep(wallet: Address, era: number, read: AccountsRead): void {
    if (era !== this.era) {
      return
    }
    this.#leave(wallet)
    this.#refusedAtMs.delete(wallet)
    this.#known.delete(wallet)
    this.#known.set(wallet, read)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_WALLETS && oldest !== undefined) {
      this.#known.delete(oldest)
    }
    this.#okAtMs = read.atMs
    this.#isFailing = false
    // The node is there again: wallets that failed meanwhile have their turn, unless they fail once more.
    for (const [failed, { isAlone, untilMs }] of this.#failed) {
      if (!isAlone) {
        this.#failed.set(failed, { untilMs, isBehind: false, isAlone: true })
      }
    }
  }

  /** Moves the wallet behind all other waiting wallets, after a failure of the node or of this read alone. */
  postpone(wallet: Address, nowMs: number): void {
    this.#isFailing = true
    if (this.#first.has(wallet) || this.#waiting.has(wallet)) {
      const isAlone = this.#failed.get(wallet)?.isAlone ?? false
      this.#failed.set(wallet, { untilMs: nowMs + POSTPONED_MS, isBehind: true, isAlone })
    }
    for (const waiting of [this.#first, this.#waiting]) {
      if (waiting.delete(wallet)) {
        waiting.add(wallet)
      }
    }
  }

  /** Records that the node refuses to read one wallet. */
  refuse(wallet: Address, refusedAtMs: number): void {
    this.#isFailing = false
    this.#leave(wallet)
    this.#known.delete(wallet)
    for (const [other, atMs] of this.#refusedAtMs) {
      if (atMs < refusedAtMs - REFUSED_MS) {
        this.#refusedAtMs.delete(other)
      }
    }
    this.#refusedAtMs.set(wallet, refusedAtMs)
  }

  #leave(wallet: Address): void {
    this.#first.delete(wallet)
    this.#waiting.delete(wallet)
    this.#failed.delete(wallet)
  }

  startAnew(): void {
    this.era++
    this.#known.clear()
    this.#refusedAtMs.clear()
  }

  state(): SourceState {
    const waits = this.#first.size + this.#waiting.size > 0
    const status = this.#isFailing ? "stale" : waits ? "partial" : "known"
    return { observedAtMs: this.#okAtMs, status, ...(waits && { reason: "backfill_running" as const }) }
  }
}
