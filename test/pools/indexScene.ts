/** Pools of a toy program for its index, and a stream and a node of them that a test controls. */
import { Deferred, Effect, Layer, Queue } from "effect"
import { addressToBytes, type Address, type Mint, SOL } from "../../src/domain/Address.ts"
import { PoolEntries } from "../../src/pools/poolIndex/PoolEntries.ts"
import { AccountScan, type ScanQuery } from "../../src/solana/accounts/AccountScan.ts"
import type { ChainUnavailable, ProgramQuery } from "../../src/solana/accounts/ChainFeed.ts"
import { type ProgramListener, ProgramWrites, type ReplayUnavailable } from "../../src/solana/geyser/ProgramWrites.ts"
import { TransactionHistory } from "../../src/solana/rpc/TransactionHistory.ts"
import { at, toyPool, toyProgram } from "../quotes/toyChain.ts"

export const { programId } = toyProgram

/** Entries of the toy program. */
export const entriesOf = (...pairs: ReadonlyArray<readonly [Mint, Address]>): PoolEntries => {
  const entries = new PoolEntries([programId])
  pairs.forEach(([mint, pool]) => entries.add(0, addressToBytes(mint), addressToBytes(pool)))
  return entries
}

/** One stream that the keeper has opened. */
export interface OpenedStream {
  readonly from: number | null
  readonly queries: ReadonlyArray<ProgramQuery>
  readonly listener: ProgramListener
  readonly end: (failure: ChainUnavailable | ReplayUnavailable) => Effect.Effect<void>
}

/** A chain whose writes a test streams. */
export class StreamedChain {
  genesis = "chain"
  /** Streams in the order in which they were opened. */
  readonly opened = Effect.runSync(Queue.unbounded<OpenedStream>())
  readonly queries: Array<ScanQuery> = []
  /** The pools that a snapshot reads, each with the mint that it trades against SOL. */
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
