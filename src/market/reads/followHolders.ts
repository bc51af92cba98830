/** Follows the holders of tokens: a scan of their accounts, then the changes of every block. */
import { Clock, Config, Effect, Latch, Layer, Stream } from "effect"
import { countSetting } from "../../domain/countSetting.ts"
import { addressToBytes, type Address, type Mint } from "../../domain/Address.ts"
import { toBase58 } from "../../domain/base58.ts"
import type { CoverageReason } from "../../domain/Scalar.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { noteFailure, SourceMonitor } from "../../operations/SourceMonitor.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { readU64 } from "../../programs/layout/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { AccountScan, type ScanQuery } from "../../chain/rpc/AccountScan.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import type { HolderRow } from "../../api/schemas/TokenHolders.ts"
import { HolderReader, type HolderReads, type HoldersRequest, unknownFigures } from "../../tokens/HolderReader.ts"
import { isMoney } from "../../domain/stables.ts"
import { lackingNow } from "../tape/freshness.ts"
import { Market } from "../tape/Market.ts"
import { lifetimeAt } from "./measures.ts"
import { HolderBook, type FollowedToken, type HolderLimits, type HolderRefusal } from "./HolderBook.ts"
import { HolderTable } from "./HolderTable.ts"
import { countScalar, holderFigures, holdingsOf } from "./holderFigures.ts"
import { readHistory, takeSnapshots, tradingOf } from "./holderHistory.ts"
import { makeOwnerKinds } from "./ownerKinds.ts"

/** Offsets in a token account: its mint, its owner and amount; and its length without extensions. */
const MINT_AT = 0
const OWNER_AT = 32
const AMOUNT_AT = 64
const SLICE = { offset: OWNER_AT, length: 40 }
const PLAIN_LENGTH = 165

/**
 * How long to wait before asking again a source that does not list accounts, in milliseconds. After any other failure
 * the wait is shorter.
 */
const REFUSED_MS = 600_000
const FAILED_MS = 30_000
const BEHIND_MS = 1000

/**
 * `HOLDERS_TOKENS` (200) and `HOLDERS_OWNERS` (1,000,000): the most tokens that are followed, and the most owners of
 * all of them.
 */
export const holderLimits: Config.Config<HolderLimits> = Config.all({
  mints: countSetting("HOLDERS_TOKENS", 200),
  owners: countSetting("HOLDERS_OWNERS", 1_000_000)
})

/** The accounts that hold a mint. Accounts of Token-2022 may be longer than plain ones. */
export const queryOf = ({ minSlot, mint, tokenProgram }: FollowedToken): ScanQuery => ({
  programId: tokenProgram === "spl-token" ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM,
  ...(tokenProgram === "spl-token" && { dataSize: PLAIN_LENGTH }),
  matches: [{ offset: MINT_AT, bytes: addressToBytes(mint) }],
  slice: SLICE,
  minSlot
})

const REASONS: Readonly<Record<ChainUnavailable["reason"], CoverageReason>> = {
  invalid: "not_captured",
  timeout: "deadline",
  unreachable: "source_gap",
  rate_limited: "budget"
}

const refusalOf = ({ reason, retryAfterMs = 0 }: ChainUnavailable, nowMs: number): HolderRefusal => ({
  reason: REASONS[reason],
  retryAtMs: nowMs + Math.max(retryAfterMs, reason === "invalid" ? REFUSED_MS : FAILED_MS)
})

/** Reads the accounts of a token into its table. */
const readToken = Effect.fnUntraced(function* (
  book: HolderBook,
  { scan }: AccountScan["Service"],
  token: FollowedToken
) {
  const table = new HolderTable()
  const begunMs = yield* Clock.currentTimeMillis
  const { slot } = yield* scan(queryOf(token), (data) => {
    const amount = readU64(data, AMOUNT_AT - OWNER_AT)
    if (amount > 0n) {
      table.add(toBase58(data.subarray(0, AMOUNT_AT - OWNER_AT)) as Address, amount)
    }
    return table.size <= book.mostOwners
  })
  const nowMs = yield* Clock.currentTimeMillis
  if (slot === null) {
    return book.fail(token, { reason: "limit_clipped", retryAtMs: nowMs + REFUSED_MS })
  }
  if (!book.finish(token, table, slot, { nowMs, tookMs: nowMs - begunMs })) {
    book.fail(token, { reason: "source_gap", retryAtMs: nowMs + BEHIND_MS })
  }
})

/** Why the accounts of a token are not in memory. */
const lackingOf = (token: FollowedToken | null): CoverageReason =>
  token?.phase === "idle" && token.refusal !== null ? token.refusal.reason : "backfill_running"

/** The reads of the holders in a book. */
const readsOf = (
  book: HolderBook,
  tape: Market["Service"],
  kindsOf: ReturnType<typeof makeOwnerKinds>,
  onQueued: () => void
): HolderReads => {
  const knownOf = (token: FollowedToken | null, nowMs: number) => {
    if (token === null || token.table === null) {
      return null
    }
    const { isWhole, mint, readAtMs, readSlot, table } = token
    const behind = lackingNow(tape, nowMs)
    const observedAtMs = Math.max(readAtMs, tape.heardAtMs() ?? 0)
    const lacking = !isWhole || behind === "not_captured" ? "source_gap" : behind
    // Blocks that have stopped make the figures incomplete, but do not remove them.
    const life = { observedAtMs, expiresAtMs: lifetimeAt(lacking === null ? observedAtMs : nowMs).expiresAtMs }
    const owners = kindsOf(mint)
    return {
      table,
      owners,
      holdings: holdingsOf(table, owners, { life, lacking, slot: Math.max(readSlot, book.slot) })
    }
  }
  /** What is known of an owner of a token beside its holding. */
  const describing = (mint: Mint) => {
    const creator = tape.launches.of(mint)?.creator ?? null
    return (owner: Address): Pick<HolderRow, "observed" | "tags"> => ({
      tags: owner === creator ? ["creator"] : [],
      observed: tradingOf(tape.state.traderOf(mint, owner))
    })
  }
  const figuresOf = (token: FollowedToken | null, request: Pick<HoldersRequest, "after" | "limit">, nowMs: number) => {
    const known = knownOf(token, nowMs)
    if (known !== null && token !== null) {
      return holderFigures(known.table, known.owners, known.holdings, request, describing(token.mint))
    }
    const reason = lackingOf(token)
    return reason === "backfill_running"
      ? unknownFigures(reason, "backfill_running", book.readyInMs(token))
      : unknownFigures(reason)
  }
  return {
    historyOf: (request) => readHistory(tape, request),
    holdersOf: ({ after, limit, mint, nowMs, tokenProgram }) => {
      if (isMoney(mint)) {
        return unknownFigures("not_captured")
      }
      const figures = figuresOf(book.use(mint, tokenProgram, nowMs), { after, limit }, nowMs)
      // Called last, because the reader may begin at once.
      onQueued()
      return figures
    },
    knownOf: (mint, nowMs) => knownOf(book.peek(mint), nowMs)?.holdings ?? null,
    countOf: (mint, nowMs) => {
      const known = knownOf(book.peek(mint), nowMs)
      return known === null ? unknownFigures("not_captured").holders : countScalar(known.holdings)
    },
    suggest: (mint: Mint, tokenProgram, nowMs) => {
      if (isMoney(mint)) {
        return "not_captured"
      }
      const lacksRoom = book.peek(mint) === null ? book.lacksRoom : null
      if (lacksRoom !== null) {
        return lacksRoom
      }
      const token = book.use(mint, tokenProgram, nowMs)
      const lacking = token === null || token.table === null ? lackingOf(token) : null
      // Called last, because the reader may begin at once.
      onQueued()
      return lacking
    }
  }
}

/** Follows the holders of the tokens that are asked for, keeping the most recently used. */
export const layer: Layer.Layer<never, Config.ConfigError, AccountScan | PoolBook | Market> = Layer.effect(
  HolderReader,
  Effect.gen(function* () {
    const scan = yield* AccountScan
    const tape = yield* Market
    const book = new HolderBook(yield* holderLimits)
    const kindsOf = makeOwnerKinds(makeDeriveAddress(), yield* PoolBook, tape)
    const queued = yield* Latch.make()
    const snapshots = yield* takeSnapshots(book, tape, kindsOf)
    const last: { atMs: number | null; failed: boolean } = { atMs: null, failed: false }

    yield* (yield* SourceMonitor).report("holders", () => ({
      observedAtMs: last.atMs,
      status: last.failed ? "partial" : last.atMs === null ? "unavailable" : "known",
      ...(last.failed && { reason: "source_gap" as const }),
      ...(last.atMs === null && { reason: "not_captured" as const })
    }))

    yield* Effect.suspend(() => {
      book.lose()
      return Stream.runForEach(tape.appliedCounted, (batch) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          book.take(batch)
          last.atMs = nowMs
          queued.openUnsafe()
          return Effect.map(tape.whole, snapshots.applied)
        })
      )
    }).pipe(keepRunning("Following holders", "holders"), Effect.forkScoped({ startImmediately: true }))

    const readNext = Effect.gen(function* () {
      yield* queued.await
      const token = book.begin()
      if (token === null) {
        queued.closeUnsafe()
        return
      }
      yield* readToken(book, scan, token).pipe(
        Effect.tap(Effect.sync(() => (last.failed = false))),
        Effect.catch((failure) =>
          Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
            book.fail(token, refusalOf(failure, nowMs))
            last.failed = true
            return noteFailure("holders", failure.detail)
          })
        ),
        // A defect or an interruption must not leave the token waiting for ever.
        Effect.ensuring(
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            if (token.phase === "reading") {
              book.fail(token, { reason: "source_gap", retryAtMs: nowMs + FAILED_MS })
            }
          })
        )
      )
    })
    yield* Effect.forever(readNext).pipe(keepRunning("Reading the accounts of holders", "holders"), Effect.forkScoped)

    return readsOf(book, tape, kindsOf, () => queued.openUnsafe())
  })
)
