/** Amounts that each wallet gave and got in a top-level instruction, from the flows of its own accounts. */
import { isProvision } from "./liquidity.ts"
import { type RawLeg, type ReadTransaction, SOL } from "./legs.ts"

/** Amounts of one wallet in one top-level instruction, pool fees and transfer fees included. */
export interface RawNet {
  readonly wallet: string
  readonly gave: { readonly mint: string; readonly amount: bigint }
  readonly got: { readonly mint: string; readonly amount: bigint }
  /** The swaps behind it. */
  readonly legs: ReadonlyArray<RawLeg>
}

/** A net flow of less than a hundredth of what went out and came back is dust. */
const DUST = 100n

const add = (to: Map<string, bigint>, mint: string, amount: bigint) => to.set(mint, (to.get(mint) ?? 0n) + amount)

const flowsOf = (read: ReadTransaction, wallet: string, legs: ReadonlyArray<RawLeg>): ReadonlyMap<string, bigint> => {
  const { holders, transfers } = read
  const [paid, received] = [new Map<string, bigint>(), new Map<string, bigint>()]
  for (const transfer of transfers.filter(({ outer }) => outer === legs[0]?.outer)) {
    const [from, to] = [holders.get(transfer.source), holders.get(transfer.destination)]
    if (from?.owner !== to?.owner) {
      if (from?.owner === wallet) {
        add(paid, from.mint, transfer.amount)
      }
      if (to?.owner === wallet) {
        add(received, to.mint, read.arrived(transfer))
      }
    }
  }
  for (const { nativeFlow } of legs) {
    add(nativeFlow < 0n ? paid : received, SOL, nativeFlow < 0n ? -nativeFlow : nativeFlow)
  }
  return new Map(
    [...new Set([...paid.keys(), ...received.keys()])].flatMap((mint) => {
      const [out, back] = [paid.get(mint) ?? 0n, received.get(mint) ?? 0n]
      const net = back - out
      const size = net < 0n ? -net : net
      return net === 0n || size * DUST < (out < back ? out : back) ? [] : [[mint, net] as const]
    })
  )
}

const chosen = (mints: ReadonlyArray<string>, preferred: string | undefined): string | undefined =>
  preferred !== undefined && mints.includes(preferred) ? preferred : mints.length === 1 ? mints[0] : undefined

/** The net trades of a transaction. Loops, which end with what they began with, are none. */
export const netsOf = (read: ReadTransaction, legs: ReadonlyArray<RawLeg>): ReadonlyArray<RawNet> => {
  const groups = Map.groupBy(legs, ({ outer, wallet }) => `${outer} ${wallet}`)
  return Array.from(groups.values()).flatMap((own) => {
    const [first, last] = [own[0], own.at(-1)]
    if (first === undefined || last === undefined) {
      return []
    }
    const flow = flowsOf(read, first.wallet, own)
    const isLoop = own.length > 1 && first.input.mint === last.output.mint && (flow.get(first.input.mint) ?? 0n) >= 0n
    const [out, back] = [Array.from(flow).filter(([, net]) => net < 0n), Array.from(flow).filter(([, net]) => net > 0n)]
    const gave = chosen(
      out.map(([mint]) => mint),
      first.input.mint
    )
    const got = chosen(
      back.map(([mint]) => mint),
      last.output.mint
    )
    return isLoop || gave === undefined || got === undefined
      ? []
      : [
          {
            wallet: first.wallet,
            gave: { mint: gave, amount: -(flow.get(gave) ?? 0n) },
            got: { mint: got, amount: flow.get(got) ?? 0n },
            legs: own
          }
        ]
  })
}

/** Programs that only move what a wallet has: token, associated account, system, compute budget, memo. */
const PLAIN = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  "11111111111111111111111111111111",
  "ComputeBudget111111111111111111111111111111"
])

/** Wallets and mints that moved inside of programs without a known swap or provision of liquidity: their net trades may be more than those here. */
export const unexplainedOf = (read: ReadTransaction, legs: ReadonlyArray<RawLeg>): ReadonlyArray<string> => {
  if (read.raw.meta.err !== null) {
    return []
  }
  const tops = read.invocations.filter(({ isTop }) => isTop)
  const unknown = tops.filter(
    ({ instruction, outer }) =>
      !PLAIN.has(read.keys[instruction.programIdIndex] ?? "") &&
      !isProvision(read, instruction) &&
      !legs.some((leg) => leg.outer === outer)
  )
  return unknown.flatMap(({ outer }) =>
    read.transfers
      .filter((transfer) => transfer.outer === outer)
      .flatMap(({ destination, source }) => [read.holders.get(source), read.holders.get(destination)])
      .flatMap((holder) => (holder !== undefined && read.signers.includes(holder.owner) ? [holder.mint] : []))
  )
}
