/** A node whose chain has one wallet with a long history: one real transaction, many times over. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { toBase58 } from "../../src/domain/base58.ts"
import { Address } from "../../src/domain/Address.ts"
import { Signature } from "../../src/domain/Signature.ts"
import type { TransactionHistory } from "../../src/chain/rpc/TransactionHistory.ts"

interface Vector {
  readonly expect: { readonly net: { readonly wallet: string } }
  readonly transaction: {
    readonly blockTime: number
    readonly transaction: { readonly message: unknown }
  }
}

const NAME = "meteora-damm-v2-exact-in-sol-usdc-8Pm2"

const signatureOf = (n: number): Signature => {
  const bytes = new Uint8Array(64).fill(9)
  new DataView(bytes.buffer).setUint32(8, n)
  return Signature.make(toBase58(bytes))
}

const slotOf = (n: number) => 1_000_000 + n

/** `count` transactions of a wallet, one per slot, and the peak use of the node so far. */
export const longHistory = (count: number, genesis: string) => {
  const url = new URL(`../vectors/transactions/${NAME}.json`, import.meta.url)
  const { expect, transaction }: Vector = JSON.parse(readFileSync(url, "utf8"))
  const text = JSON.stringify(transaction)
  const places = new Map(Array.from({ length: count }, (_, n) => [signatureOf(n), n] as const))
  const use = { lists: 0, reads: 0, reading: 0, mostReading: 0, mostListed: 0 }
  const node: TransactionHistory["Service"] = {
    genesis: Effect.succeed(genesis),
    list: ({ before, limit }) =>
      Effect.sync(() => {
        use.lists += 1
        use.mostListed = Math.max(use.mostListed, limit)
        const newest = before === null ? count - 1 : (places.get(before) ?? 0) - 1
        return Array.from({ length: Math.min(limit, newest + 1) }, (_, i) => ({
          signature: signatureOf(newest - i),
          slot: slotOf(newest - i),
          blockTime: transaction.blockTime,
          err: null
        }))
      }),
    read: (signature) =>
      Effect.gen(function* () {
        use.reads += 1
        use.reading += 1
        use.mostReading = Math.max(use.mostReading, use.reading)
        yield* Effect.yieldNow
        use.reading -= 1
        // Every reply is a new object, as from a real node.
        const answer: Vector["transaction"] = JSON.parse(text)
        const inner = { message: answer.transaction.message, signatures: [signature] }
        return { ...answer, slot: slotOf(places.get(signature) ?? 0), transactionIndex: 0, transaction: inner }
      })
  }
  return { node, use, wallet: Address.make(expect.net.wallet) }
}
