/** Comparison of what was acknowledged and what happened on the chain with what is stored. */
import { Effect } from "effect"
import { packSignature } from "../../src/market/history/tradeRows.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import { query } from "../chaos/service.ts"
import { blocksOf, slotsBetween } from "../recompute/chain.ts"
import type { Written } from "./writes.ts"

/** Transactions with trades between two slots, both included, and the number of blocks that were read. */
const tradedBetween = async (rpcUrl: string, from: number, to: number) => {
  const slots = await slotsBetween(rpcUrl, from, to)
  const signatures = new Set<string>()
  let blocks = 0
  for await (const { slot, ...block } of blocksOf(rpcUrl, slots)) {
    blocks++
    for (const { legs, nets, signature } of decodeBlock(slot, block)?.transactions ?? []) {
      if (legs.length + nets.length > 0) {
        signatures.add(Buffer.from(packSignature(signature)).toString("hex"))
      }
    }
  }
  return { blocks, signatures }
}

/** Stretch of a chain, both slots included. */
interface Stretch {
  readonly from: number
  readonly to: number
}

/** Transactions with trades that are not stored, and stored ones that are not on the chain. */
export const compareChain = Effect.fnUntraced(function* (databaseUrl: string, rpcUrl: string, { from, to }: Stretch) {
  const { blocks, signatures } = yield* Effect.promise(() => tradedBetween(rpcUrl, from, to))
  const rows = yield* query<{ signature: string; role: number; copies: number }>(
    databaseUrl,
    `select encode(signature, 'hex') as signature, max(copies)::int as copies from (
       select signature, count(*) over (partition by chain, slot, place) as copies
       from trade_rows where role <> 3 and slot between $1 and $2
     ) rows group by signature`,
    [from, to]
  )
  const stored = new Set(rows.map(({ signature }) => signature))
  return {
    blocks,
    transactions: signatures.size,
    missing: signatures.difference(stored).size,
    unknown: stored.difference(signatures).size,
    twice: rows.filter(({ copies }) => copies > 1).length
  }
})

/** The newest stored slot of the chain that is followed, and its open gaps. */
export const storedProgress = Effect.fnUntraced(function* (databaseUrl: string) {
  const [row] = yield* query<{ slot: number; gaps: number }>(
    databaseUrl,
    `select slot::float8 as slot, (select count(*)::int from block_gaps where chain = id) as gaps
     from chains where slot is not null order by written_at desc limit 1`
  )
  return row ?? { slot: 0, gaps: 0 }
})

/**
 * Looks at how much is stored: true once that is everything up to this slot, or has been the same at so many looks in a row. A busy
 * machine may take minutes for it.
 */
export const storedOrStill = (toSlot: number, looks: number) => {
  let [slotBefore, gapsBefore, still] = [-1, -1, 0]
  return ({ gaps, slot }: { readonly gaps: number; readonly slot: number }): boolean => {
    still = slot === slotBefore && gaps === gapsBefore ? still + 1 : 0
    ;[slotBefore, gapsBefore] = [slot, gaps]
    return (gaps === 0 && slot >= toSlot) || still >= looks
  }
}

const countOf = Effect.fnUntraced(function* (databaseUrl: string, from: string, ids: ReadonlySet<string>) {
  const statement = `select count(*)::int as count from ${from} = any($1::text[])`
  const [row] = yield* query<{ count: number }>(databaseUrl, statement, [`{${Array.from(ids).join(",")}}`])
  return row?.count ?? null
})

/** Acknowledged writes that are not there, and acknowledged removals that were not made; `from` selects by id. */
export const lostWrites = Effect.fnUntraced(function* (
  databaseUrl: string,
  from: string,
  { present, removed }: Written
) {
  const there = yield* countOf(databaseUrl, from, present)
  const still = yield* countOf(databaseUrl, from, removed)
  return { missing: there === null ? null : present.size - there, notRemoved: still }
})

/** Daily partitions by name. */
export const partitionsOf = (databaseUrl: string) =>
  Effect.map(
    query<{ name: string }>(
      databaseUrl,
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent in ('trade_rows'::regclass, 'minute_bars'::regclass)`
    ),
    (rows): ReadonlySet<string> => new Set(rows.map(({ name }) => name))
  )
