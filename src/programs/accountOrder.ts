/**
 * The account order of an instruction is a list of names, stated once: decoders take their indexes from it, and the simulator
 * builds its account lists by it.
 */
import type { HopLayout } from "./SwapDecoder.ts"

/** The accounts in the order that the instruction takes them. */
export const inAccountOrder = <Name extends string, A>(
  order: ReadonlyArray<Name>,
  accounts: Readonly<Record<Name, A>>
): ReadonlyArray<A> => order.map((name) => accounts[name])

/** The indexes of a pool and its two vaults in the order. */
export const hopLayout = <Name extends string>(
  order: ReadonlyArray<Name>,
  pool: NoInfer<Name>,
  vaultA: NoInfer<Name>,
  vaultB: NoInfer<Name>
): HopLayout => ({ pool: order.indexOf(pool), vaultA: order.indexOf(vaultA), vaultB: order.indexOf(vaultB) })
