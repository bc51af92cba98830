/** A wallet reader over fixed data for tests. */
import { Effect, Layer } from "effect"
import type { Mint } from "../../src/domain/Address.ts"
import type { IdentityRecord } from "../../src/api/schemas/WalletIdentity.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenAccounts } from "../../src/chain/rpc/TokenAccounts.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import { LedgerReader } from "../../src/wallets/LedgerReader.ts"
import { WalletIndex } from "../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { takeShare } from "../../src/wallets/walletShare.ts"
import { START } from "./trades.ts"

/** Data of a reader, and its recorded calls. */
export interface Findings {
  /** Trades by wallet, newest first. */
  readonly trades?: Readonly<Record<string, ReadonlyArray<TapeTrade>>>
  readonly identities?: ReadonlyArray<IdentityRecord>
  /** Micro-dollars per smallest unit. */
  readonly marks?: Readonly<Record<string, bigint>>
  readonly stalePrices?: boolean
  readonly index?: WalletIndex["Service"]["read"]
  readonly store?: Layer.Layer<IdentityStore>
  readonly ledger?: LedgerReader["Service"]["read"]
  readonly history?: LedgerReader["Service"]["historyOf"]
  readonly backfill?: LedgerReader["Service"]["backfill"]
  readonly tape?: Layer.Layer<Market>
  readonly accounts?: Layer.Layer<WalletAccounts>
  readonly node?: Layer.Layer<TokenAccounts>
  readonly asked?: { lookups: number; readonly mints: Array<Mint> }
}

const priceBook = ({ asked, marks = {}, stalePrices = false }: Findings) =>
  Layer.succeed(PriceBook, {
    at: (nowMs) => {
      if (asked !== undefined) {
        asked.lookups++
      }
      return {
        of: (mint) => {
          asked?.mints.push(mint)
          const mark = marks[mint]
          return mark === undefined ? null : { sol: null, usd: { numerator: mark, denominator: 1n } }
        },
        lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
        isStale: stalePrices,
        silentMs: 0,
        clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
      }
    },
    warm: () => Effect.die("a wallet read loads nothing")
  })

/** An index over fixed trades. */
export const indexOf =
  (trades: Findings["trades"] = {}): WalletIndex["Service"]["read"] =>
  (wallet, share) =>
    Effect.sync(() => {
      const taken = takeShare(trades[wallet] ?? [], share)
      const oldest = taken.trades.at(-1)
      return oldest === undefined
        ? null
        : {
            ...taken,
            undated: 0,
            coveredFromMs: taken.truncated ? oldest.timeMs : START,
            coveredUntilMs: START + 1_000_000,
            liveSinceMs: START
          }
    })

const identityStore = (records: ReadonlyArray<IdentityRecord>) =>
  Layer.effectDiscard(IdentityStore.use((store) => store.replace("test", records))).pipe(
    Layer.provideMerge(IdentityStore.layerMemory),
    Layer.orDie
  )

/** The production reader over this data. */
export const readerOver = (findings: Findings): Layer.Layer<WalletReader> =>
  WalletReader.layer.pipe(
    Layer.provide([
      priceBook(findings),
      findings.store ?? identityStore(findings.identities ?? []),
      Layer.succeed(LedgerReader, {
        read: findings.ledger ?? (() => Effect.succeed(null)),
        historyOf: findings.history ?? (() => Effect.succeed(null)),
        backfill: findings.backfill ?? (() => Effect.void)
      }),
      findings.accounts ?? WalletAccounts.layerNamed,
      findings.node ?? TokenAccounts.layerUnreachable,
      findings.tape ?? Market.layerManual(),
      Layer.succeed(WalletIndex, { read: findings.index ?? indexOf(findings.trades) })
    ])
  )
