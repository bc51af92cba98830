/** The trades of every block as one hash a block: of the node itself, of the store, and of what a process answers. */
import { createHash } from "node:crypto"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { tapeTradesOf } from "../../../src/market/model/tapeTrades.ts"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { unpackText } from "../../../src/market/history/tradeRows.ts"
import { blocksOf, slotsBetween } from "../../recompute/chain.ts"
import { ask, at, type Question, type ServiceAccess } from "../repair/answers.ts"
import { query } from "../service.ts"
import { Effect } from "effect"

/** The identity of a trade in its block, whatever the prices that were known. */
export interface TradeLine {
  readonly slot: number
  readonly index: number
  readonly text: string
}

/** A hash of the trades of each block that has any, by slot. A trade that is there twice changes the hash. */
export type BlockHashes = ReadonlyMap<number, string>

type Identity = Pick<TapeTrade, "index" | "mint" | "pool" | "side" | "signature" | "slot"> & {
  readonly amount: bigint | string
  readonly wallet: string
}

/** The line of a trade. */
export const lineOf = ({ amount, index, mint, pool, side, signature, slot, wallet }: Identity): TradeLine => ({
  slot,
  index,
  text: [index, signature, side, mint, amount, wallet, pool].join(" ")
})

/** The hashes of lines in any order. */
export const hashesOf = (lines: ReadonlyArray<TradeLine>): BlockHashes =>
  new Map(
    Array.from(
      Map.groupBy(lines, ({ slot }) => slot),
      ([slot, of]) => {
        const texts = of.toSorted((a, b) => a.index - b.index || (a.text < b.text ? -1 : 1)).map(({ text }) => text)
        return [slot, createHash("sha256").update(texts.join("\n")).digest("hex")] as const
      }
    )
  )

/** Blocks of one set that the other lacks, that it has more, and that have other trades. */
export interface BlockDifferences {
  readonly blocks: number
  readonly missing: number
  readonly more: number
  readonly other: number
  /** Slots of the first of them. */
  readonly first: ReadonlyArray<number>
}

/** Compares the blocks that were found with those expected. */
export const differing = (expected: BlockHashes, found: BlockHashes): BlockDifferences => {
  const missing = Array.from(expected.keys()).filter((slot) => !found.has(slot))
  const more = Array.from(found.keys()).filter((slot) => !expected.has(slot))
  const other = Array.from(expected.keys()).filter((slot) => found.has(slot) && found.get(slot) !== expected.get(slot))
  return {
    blocks: expected.size,
    missing: missing.length,
    more: more.length,
    other: other.length,
    first: [...missing, ...more, ...other].slice(0, 5)
  }
}

/** True when the blocks are the expected ones, and there are any. */
export const areEqual = ({ blocks, missing, more, other }: BlockDifferences): boolean =>
  blocks > 0 && missing + more + other === 0

/** The trades of the blocks of a node between two slots, both included, as the decoder makes them of each block alone. */
export const readNode = async (rpcUrl: string, from: number, to: number): Promise<ReadonlyArray<TapeTrade>> => {
  const trades: Array<TapeTrade> = []
  for await (const block of blocksOf(rpcUrl, await slotsBetween(rpcUrl, from, to))) {
    const decoded = decodeBlock(block.slot, block)
    if (decoded === null) {
      throw new Error(`the block of slot ${block.slot} cannot be read`)
    }
    const price = { timeMs: decoded.blockTimeMs ?? 0, microPerLamport: null }
    trades.push(...Array.from(decoded.transactions).flatMap((transaction) => tapeTradesOf(transaction, price)))
  }
  return trades
}

/** Swaps of pools, which answers show; the other trades are sums of a wallet. */
export const isSwap = ({ role }: Pick<TapeTrade, "role">): boolean => role !== "wallet"

interface StoredRow {
  readonly slot: number
  readonly place: number
  readonly mint: string
  readonly is_buy: boolean
  readonly signature: Uint8Array
  readonly wallet: Uint8Array
  readonly amount: string
  readonly pool: string | null
}

const SIGNATURE_BYTES = 64
const WALLET_BYTES = 32

/** The stored trades of the blocks between two slots, both included. */
export const readStore = (url: string, from: number, to: number) =>
  Effect.map(
    query<StoredRow>(
      url,
      `select slot, place, mint, is_buy, signature, wallet, amount::text as amount, pool from trades
       where slot between $1::int and $2::int`,
      [from, to]
    ),
    (rows) =>
      rows.map(({ amount, is_buy: isBuy, mint, place, pool, signature, slot, wallet }) =>
        lineOf({
          slot,
          index: place,
          mint: mint as TapeTrade["mint"],
          side: isBuy ? "buy" : "sell",
          signature: unpackText(signature, SIGNATURE_BYTES),
          wallet: unpackText(wallet, WALLET_BYTES),
          amount,
          pool: pool as TapeTrade["pool"]
        })
      )
  )

const PAGE = 200
/** Tries to be answered, a second apart. */
const TRIES = 60

/** Asks until the answer is 200, up to a minute: a process may have to load the token first. */
const askLong = async (asked: ServiceAccess, question: Question): Promise<unknown> => {
  for (let tries = 0; ; tries++) {
    const { content, status } = await ask(asked, question)
    if (status === 200) {
      return content
    }
    if (status === 400 || tries === TRIES) {
      throw new Error(`${question.path} is answered ${status}: ${JSON.stringify(content).slice(0, 200)}`)
    }
    await new Promise((resume) => setTimeout(resume, 1000))
  }
}

const answeredLine = (trade: unknown): TradeLine =>
  lineOf({
    slot: Number(at(trade, "slot")),
    index: Number(at(trade, "index")),
    mint: String(at(trade, "legs", "token", "mint")) as TapeTrade["mint"],
    side: String(at(trade, "side")) as TapeTrade["side"],
    signature: String(at(trade, "signature")),
    wallet: String(at(trade, "wallet")),
    amount: String(at(trade, "legs", "token", "amount")),
    pool: at(trade, "pool") as TapeTrade["pool"]
  })

/** The swaps of these tokens from a slot on, as a process answers them, page by page. */
export const readAnswers = async (
  asked: ServiceAccess,
  mints: ReadonlyArray<string>,
  from: number
): Promise<ReadonlyArray<TradeLine>> => {
  const lines: Array<TradeLine> = []
  for (const mint of mints) {
    let cursor: string | null = ""
    while (cursor !== null) {
      const path = `/api/v1/tokens/solana/${mint}/trades?limit=${PAGE}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
      const content = await askLong(asked, { path })
      const trades = at(content, "data")
      const page = Array.isArray(trades) ? trades.map(answeredLine) : []
      lines.push(...page.filter(({ slot }) => slot >= from))
      const next = at(content, "nextCursor")
      cursor = typeof next === "string" && page.every(({ slot }) => slot >= from) ? next : null
    }
  }
  return lines
}
