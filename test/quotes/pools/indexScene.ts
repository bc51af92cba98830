/** Pools of a toy program and its index, with a stream and a node that a test controls. */
import { Deferred, Effect, Layer, Queue } from "effect"
import { addressToBytes, type Address, type Mint, SOL } from "../../../src/domain/Address.ts"
import { PoolEntries } from "../../../src/quotes/pools/PoolEntries.ts"
import { AccountScan, type ScanQuery } from "../../../src/chain/rpc/AccountScan.ts"
import type { ProgramQuery } from "../../../src/chain/ChainFeed.ts"
import type { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { type ProgramListener, ProgramWrites, type ReplayUnavailable } from "../../../src/chain/geyser/ProgramWrites.ts"
import { TransactionHistory } from "../../../src/chain/rpc/TransactionHistory.ts"
import { at, toyPool, toyProgram } from "../toyChain.ts"

export const { programId } = toyProgram

/** Entries of the toy program. */
export const entriesOf = (...pairs: ReadonlyArray<readonly [Mint, Address]>): PoolEntries => {
  const entries = new PoolEntries([programId])
  pairs.forEach(([mint, pool]) => entries.add(0, addressToBytes(mint), addressToBytes(pool)))
  return entries
}

/** One stream opened by the keeper. */
export interface OpenedStream {
  readonly from: number | null
  readonly queries: ReadonlyArray<ProgramQuery>
  readonly listener: ProgramListener
  readonly end: (failure: ChainUnavailable | ReplayUnavailable) => Effect.Effect<void>
}

/** A chain whose writes a test streams. */
export class StreamedChain {
  genesis = "chain"
  /** Streams in the order of their opening. */
  readonly opened = Effect.runSync(Queue.unbounded<OpenedStream>())
  readonly queries: Array<ScanQuery> = []
  /** The pools in a snapshot, each with the mint that it trades against SOL. */
  readonly pools = new Map<Address, Mint>()
  /** The failure of the next snapshots. */
  scanFailure: ChainUnavailable | null = null
  /** Runs after the first account of a snapshot. */
  duringScan: Effect.Effect<void> = Effect.void

  write(stream: OpenedStream, slot: number, pool: Address, mint: Mint): void {
    const { data } = toyPool({ address: pool, mintA: mint, mintB: SOL, vaultA: at(1), vaultB: at(2) })
    stream.listener.onWrite({ query: 0, slot, address: addressToBytes(pool), lamports: 1n, data })
  }

  readonly layer = Layer.mergeAll(
    Layer.succeed(ProgramWrites, {
      follow: (queries, from, listener) =>
        Effect.gen({ self: this }, function* () {
          const ended = yield* Deferred.make<never, ChainUnavailable | ReplayUnavailable>()
          const end = (failure: ChainUnavailable | ReplayUnavailable) => Effect.asVoid(Deferred.fail(ended, failure))
          yield* Queue.offer(this.opened, { from, queries, listener, end })
          return yield* Deferred.await(ended)
        })
    }),
    Layer.succeed(
      AccountScan,
      AccountScan.of({
        scan: (query, visit) =>
          Effect.gen({ self: this }, function* () {
            this.queries.push(query)
            for (const [pool, mint] of Array.from(this.pools)) {
              visit(this.#partOf(query, pool, mint), pool)
              yield* this.duringScan
              if (this.scanFailure !== null) {
                return yield* this.scanFailure
              }
            }
            return this.scanFailure === null ? { slot: query.minSlot } : yield* this.scanFailure
          })
      })
    ),
    Layer.effect(
      TransactionHistory,
      Effect.map(
        Effect.provide(TransactionHistory, TransactionHistory.layerUnreachable),
        (history): TransactionHistory["Service"] => ({ ...history, genesis: Effect.sync(() => this.genesis) })
      )
    )
  )

  #partOf({ slice: { length, offset } }: ScanQuery, pool: Address, mint: Mint): Uint8Array {
    const { data } = toyPool({ address: pool, mintA: mint, mintB: SOL, vaultA: at(1), vaultB: at(2) })
    return data.subarray(offset, offset + length)
  }
}
